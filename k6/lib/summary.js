// The end of a run: the same figures for people and as JSON.

const COUNTS = {
  iterations_started: 'iterations_started',
  accepted: 'tickets_accepted',
  existing: 'tickets_existing',
  rejected: 'tickets_rejected',
  matched: 'tickets_matched',
  cancelled: 'tickets_cancelled',
  expired: 'tickets_expired',
  abandoned: 'tickets_abandoned',
  unsettled: 'tickets_unsettled',
  bad_requests_refused: 'bad_requests_refused',
  matches_read_again: 'matches_read_again',
  users_with_two_matches: 'users_with_two_matches',
  unexpected_answers: 'unexpected_answers',
};

function valueOf(metrics, name, key) {
  const metric = metrics[name];
  return metric === undefined || metric.values[key] === undefined ? null : metric.values[key];
}

// `null` when nothing was timed.
function spread(metrics, name) {
  const of = (key) => valueOf(metrics, name, key);
  return { p50: of('p(50)'), p95: of('p(95)'), p99: of('p(99)'), max: of('max') };
}

function failedThresholds(metrics) {
  const failed = [];
  Object.entries(metrics).forEach(([name, metric]) => {
    Object.entries(metric.thresholds || {}).forEach(([rule, { ok }]) => {
      if (!ok) {
        failed.push(`${name}: ${rule}`);
      }
    });
  });
  return failed;
}

/** The figures of a run. */
export function json(scenario, plan, { metrics, setup_data: setup }) {
  const counts = {};
  Object.entries(COUNTS).forEach(([name, metric]) => {
    counts[name] = valueOf(metrics, metric, 'count') || 0;
  });
  return {
    scenario,
    requests: plan.requests,
    sending_seconds: plan.seconds,
    started_ms: setup.startedMs + (plan.from || 0) * 1000,
    ended_ms: Date.now(),
    dropped_iterations: valueOf(metrics, 'dropped_iterations', 'count') || 0,
    virtual_users: valueOf(metrics, 'vus_max', 'max'),
    ...counts,
    matched_within_5s: valueOf(metrics, 'matched_within_5s', 'rate'),
    accept_ms: spread(metrics, 'accept_ms'),
    wait_ms: spread(metrics, 'wait_ms'),
    failed_thresholds: failedThresholds(metrics),
  };
}

const rounded = (value) => (value === null ? '-' : String(Math.round(value * 10) / 10));

/** The figures as people read them. */
export function table(summary) {
  const lines = [`\n${summary.scenario}: ${summary.requests} requests in ${rounded(summary.sending_seconds)} s\n`];
  const row = (name, value) => lines.push(`  ${name.padEnd(30)}${value}`);
  row('dropped by k6', summary.dropped_iterations);
  Object.keys(COUNTS).forEach((name) => row(name.replace(/_/g, ' '), summary[name]));
  const share = summary.matched_within_5s;
  row('matched within 5 s', share === null ? '-' : `${(share * 100).toFixed(2)} %`);
  [['accept', summary.accept_ms], ['wait', summary.wait_ms]].forEach(([name, { p50, p95, p99, max }]) => {
    row(`${name} p50, p95, p99, max`, `${[p50, p95, p99, max].map(rounded).join(' / ')} ms`);
  });
  row('virtual users', summary.virtual_users);
  const failed = summary.failed_thresholds;
  lines.push(failed.length === 0 ? '\n  every threshold held' : `\n  FAILED: ${failed.join(', ')}`);
  return `${lines.join('\n')}\n\n`;
}
