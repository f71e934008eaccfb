// A phone: presses the button, waits for the outcome, gives up after a while. It keeps its connection, and so its server.

import { sleep } from 'k6';
import http from 'k6/http';

import { acceptMs, complain, counters, matchedSoon, SOON_MS, waitMs } from './measures.js';
import { baseUrls, seconds } from './settings.js';

const URLS = baseUrls();
/** Who fits nobody would wait until the ticket expires, a minute; an app lets people go earlier. */
const PATIENCE_MS = seconds('PATIENCE', '10s') * 1000;
// What the API takes as `wait` at most is 50; phones are on networks that cut earlier.
const LONGEST_POLL_SECONDS = 25;
// A server that answers polls at once is not asked more often than this.
const POLL_PAUSE_SECONDS = 0.25;
const MOST_LOST_ANSWERS = 5;

const SUBMIT = 'POST /v1/tickets';
const POLL = 'GET /v1/tickets/{id}';
const CANCEL = 'DELETE /v1/tickets/{id}';
/** The name of the request that asks where a user stands. */
export const CURRENT = 'GET /v1/tickets/current';

/** The address of a server, counted round and round. */
export function server(n) {
  return URLS[n % URLS.length];
}

/** The parameters of a request. Bodies are kept only where they are read. */
export function request(bearer, name, { keepBody = false, headers = {}, timeout = '35s' } = {}) {
  return {
    headers: { Authorization: bearer, ...headers },
    tags: { name },
    responseType: keepBody ? 'text' : 'none',
    timeout,
  };
}

/** The parameters of a press of the button. */
export function pressing(person, { key, keepBody = false } = {}) {
  const headers = { 'Content-Type': 'application/json' };
  if (key !== undefined) {
    headers['Idempotency-Key'] = key;
  }
  return request(person.bearer, SUBMIT, { keepBody, headers });
}

/** Opens the app, which asks where its user stands, of each server: who presses later has a connection already. */
export function open(person) {
  URLS.forEach((url) => {
    const answer = http.get(`${url}/v1/tickets/current`, request(person.bearer, CURRENT));
    if (answer.status !== 404) {
      complain(CURRENT, answer);
    }
  });
}

/** Looks at the answer to a press of the button: the ticket's id, or `null` when there is none. */
export function judge(answer) {
  if (answer.status === 201) {
    counters.accepted.add(1);
    acceptMs.add(answer.timings.blocked + answer.timings.duration);
    // `/v1/tickets/<id>`: so the body need not be kept.
    const location = answer.headers.Location || '';
    return location.slice(location.lastIndexOf('/') + 1);
  }
  if (answer.status === 429 || answer.status === 503) {
    counters.rejected.add(1);
  } else {
    complain(SUBMIT, answer);
  }
  return null;
}

/** Presses the button once. */
export function press(person, options) {
  return judge(http.post(`${server(person.n)}/v1/tickets`, person.body, pressing(person, options)));
}

/**
 * Reads a ticket from a server; with `wait` as soon as it settles. `seen` is its state and its match's id, or `null` when the
 * answer is none. Picked out by k6 itself: parsing whole answers in JavaScript would cost as much as sending the requests.
 */
export function read(person, ticket, { from, wait = 0, timeout }) {
  const query = wait > 0 ? `?wait=${wait}` : '';
  const parameters = request(person.bearer, POLL, { keepBody: true, timeout });
  const answer = http.get(`${server(from)}/v1/tickets/${ticket}${query}`, parameters);
  if (answer.status !== 200) {
    return { answer, seen: null };
  }
  return { answer, seen: { state: answer.json('state'), match: answer.json('match.id') } };
}

/** Holds polls until the ticket settles or patience ends; then cancels. Answers the ticket as last seen, or `null`. */
export function follow(person, ticket, started) {
  let from = person.n;
  let lost = 0;
  while (lost < MOST_LOST_ANSWERS) {
    const left = Math.ceil((started + PATIENCE_MS - Date.now()) / 1000);
    if (left <= 0) {
      return cancel(person, ticket, from);
    }
    const { answer, seen } = read(person, ticket, { from, wait: Math.min(left, LONGEST_POLL_SECONDS) });
    if (seen !== null && seen.state !== 'waiting') {
      return seen;
    }
    if (seen === null) {
      // A server that stops refuses polls: another one takes them.
      if (answer.status !== 503) {
        complain(POLL, answer);
      }
      lost += 1;
      from += 1;
    }
    sleep(POLL_PAUSE_SECONDS);
  }
  return null;
}

/** Cancels, unless the ticket settles first. Answers the ticket as it is then, or `null`. */
export function cancel(person, ticket, from) {
  const url = `${server(from)}/v1/tickets/${ticket}`;
  const answer = http.del(url, null, request(person.bearer, CANCEL));
  if (answer.status !== 200 && answer.status !== 409) {
    complain(CANCEL, answer);
    return null;
  }
  return read(person, ticket, { from: from + 1 }).seen;
}

/** Counts how a ticket ended. `waited`: whether its user wanted to know soon. */
export function settle(ticket, started, waited = true) {
  const state = ticket === null ? 'waiting' : ticket.state;
  const isMatched = state === 'matched';
  if (isMatched) {
    counters.matched.add(1);
  } else if (state === 'cancelled') {
    counters.cancelled.add(1);
  } else if (state === 'expired') {
    counters.expired.add(1);
  } else {
    counters.unsettled.add(1);
  }
  if (waited) {
    const took = Date.now() - started;
    if (isMatched) {
      waitMs.add(took);
    }
    matchedSoon.add(isMatched && took <= SOON_MS);
  }
}

/** Reads a match a second time, from another server: it must be the same one. */
export function readAgain(person, ticket, match) {
  const { answer, seen } = read(person, ticket, { from: person.n + 1 });
  if (seen === null) {
    complain(POLL, answer);
    return;
  }
  counters.readAgain.add(1);
  if (seen.match !== match) {
    counters.twoMatches.add(1);
    console.error(`two matches of one user: ticket ${ticket}`);
  }
}

/** A whole press: submits, waits for the outcome, and reads the match again when asked to. */
export function pressAndWait(person, { again = false } = {}) {
  const started = Date.now();
  const ticket = press(person);
  if (ticket === null) {
    return;
  }
  const seen = follow(person, ticket, started);
  settle(seen, started);
  if (again && seen !== null && seen.state === 'matched') {
    readAgain(person, ticket, seen.match);
  }
}
