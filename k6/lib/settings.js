// What a run is told: environment variables, or `-e NAME=value` on k6's command line. README.md lists them.

/** The text of a setting, or the fallback when it is not given. */
export function text(name, fallback = '') {
  const value = (__ENV[name] || '').trim();
  return value === '' ? fallback : value;
}

/** A number that is not negative. */
export function number(name, fallback) {
  const value = Number(text(name, String(fallback)));
  if (!Number.isFinite(value) || value < 0) {
    throw new Error(`${name} must be a number from 0, not ${text(name)}`);
  }
  return value;
}

/** A whole number from 1. */
export function count(name, fallback) {
  const value = number(name, fallback);
  if (!Number.isInteger(value) || value < 1) {
    throw new Error(`${name} must be a whole number from 1, not ${value}`);
  }
  return value;
}

/** A share, 0 to 1. */
export function share(name, fallback) {
  const value = number(name, fallback);
  if (value > 1) {
    throw new Error(`${name} must be a share from 0 to 1, not ${value}`);
  }
  return value;
}

/** Seconds, from `90`, `90s`, `30m` or `1h`. */
export function seconds(name, fallback) {
  const found = /^(\d+(?:\.\d+)?)(s|m|h)?$/.exec(text(name, fallback));
  if (found === null || Number(found[1]) <= 0) {
    throw new Error(`${name} must be a time such as 90s, 30m or 1h, not ${text(name)}`);
  }
  return Number(found[1]) * { s: 1, m: 60, h: 3600 }[found[2] || 's'];
}

/** A file's path, empty when it is not given. Absolute: k6 takes any other from the script's folder, not from where it was started. */
export function path(name) {
  const value = text(name);
  if (value !== '' && !value.startsWith('/')) {
    throw new Error(`${name} must be an absolute path such as $PWD/${value}, not ${value}`);
  }
  return value;
}

/** The API servers' addresses, without a slash at the end. */
export function baseUrls() {
  const urls = text('BASE_URLS', 'http://127.0.0.1:8080').split(',');
  const all = urls.map((url) => url.trim().replace(/\/+$/, '')).filter((url) => url !== '');
  if (all.length === 0) {
    throw new Error(`BASE_URLS must name a server such as http://127.0.0.1:8080, not ${text('BASE_URLS')}`);
  }
  return all;
}
