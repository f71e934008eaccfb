// What is counted and timed, and what fails a run.

import { Counter, Rate, Trend } from 'k6/metrics';

/** Within how long a match counts as soon, in milliseconds. */
export const SOON_MS = 5000;

export const counters = {
  started: new Counter('iterations_started'),
  accepted: new Counter('tickets_accepted'),
  existing: new Counter('tickets_existing'),
  rejected: new Counter('tickets_rejected'),
  matched: new Counter('tickets_matched'),
  cancelled: new Counter('tickets_cancelled'),
  expired: new Counter('tickets_expired'),
  abandoned: new Counter('tickets_abandoned'),
  unsettled: new Counter('tickets_unsettled'),
  refusedAsTheyShould: new Counter('bad_requests_refused'),
  readAgain: new Counter('matches_read_again'),
  twoMatches: new Counter('users_with_two_matches'),
  unexpected: new Counter('unexpected_answers'),
};

/** From the first byte of the POST, a new connection included, until the ticket was there. */
export const acceptMs = new Trend('accept_ms', true);
/** From the press of the button until the phone knew its match. */
export const waitMs = new Trend('wait_ms', true);
/** Of those who kept waiting, who was matched soon. */
export const matchedSoon = new Rate('matched_within_5s');

/** Gives every counter a value: k6 does not look at the threshold of one that has none. */
export function startCounting() {
  Object.values(counters).forEach((counter) => counter.add(0));
}

let complaints = 0;

/** Counts an answer that no phone should get, and says so, once for each virtual user. */
export function complain(what, answer) {
  counters.unexpected.add(1);
  complaints += 1;
  if (complaints === 1) {
    console.error(`unexpected: ${what}: status ${answer.status} ${answer.error || ''}`);
  }
}

/**
 * What fails a run.
 *
 * `requests`: how many must have been sent. An executor that falls behind ends without a word, and not all of what it did not
 * start counts as dropped. `mayDrop`: what k6 itself could not send, and tickets refused for lack of room, are reported only.
 */
export function thresholds({ requests, acceptP95Ms, soonShare, mayDrop = false }) {
  const never = ['count==0'];
  const rules = {
    tickets_accepted: ['count>0'],
    accept_ms: [`p(95)<=${acceptP95Ms}`],
    matched_within_5s: [`rate>=${soonShare}`],
    users_with_two_matches: never,
    unexpected_answers: never,
    tickets_unsettled: never,
  };
  const all = {
    iterations_started: [`count==${requests}`],
    'iterations{scenario:phones}': [`count>=${requests}`],
    dropped_iterations: never,
    tickets_rejected: never,
  };
  return mayDrop ? rules : { ...rules, ...all };
}
