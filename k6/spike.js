// A push message brings everybody at once: 10,000 people in 2 s. On a small machine k6 itself may be too slow to send them
// all: what it drops is reported and fails nothing.

import exec from 'k6/execution';

import { thresholds } from './lib/measures.js';
import { newPeople, personOf } from './lib/people.js';
import { pressAndWait } from './lib/phone.js';
import { begin, optionsFor, summaryOf } from './lib/run.js';
import { count, number, share } from './lib/settings.js';

const RATE = count('RATE', 5000);
const SECONDS = count('SECONDS', 2);
const VUS = count('VUS', 6000);
const REREAD = share('REREAD', 0.1);
const plan = { requests: RATE * SECONDS, seconds: SECONDS };

const people = newPeople(plan.requests);

export const options = optionsFor(
  {
    executor: 'constant-arrival-rate',
    rate: RATE,
    // k6 starts one iteration more or less than rate times duration; who is too many below does nothing.
    duration: `${SECONDS * 1000 + 100}ms`,
    preAllocatedVUs: VUS,
    maxVUs: VUS,
  },
  thresholds({
    requests: plan.requests,
    acceptP95Ms: number('ACCEPT_P95_MS', 3000),
    soonShare: share('SOON_SHARE', 0.9),
    mayDrop: true,
  }),
);

export const setup = begin;

export default function press() {
  const n = exec.scenario.iterationInTest;
  if (n < plan.requests) {
    pressAndWait(personOf(people, n), { again: n % 100 < REREAD * 100 });
  }
}

export const handleSummary = summaryOf('spike', plan);
