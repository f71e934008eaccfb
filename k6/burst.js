// Everybody presses at nine: 10,000 people in 10 s. Each submits a ticket and holds a long poll until the outcome.

import exec from 'k6/execution';

import { thresholds } from './lib/measures.js';
import { newPeople, personOf } from './lib/people.js';
import { pressAndWait } from './lib/phone.js';
import { begin, optionsFor, summaryOf } from './lib/run.js';
import { count, number, share } from './lib/settings.js';

const RATE = count('RATE', 1000);
const SECONDS = count('SECONDS', 10);
// A thousand are in use: waits are about a second. The others are for waits that grow, and each opens a connection of its own.
const VUS = count('VUS', 1750);
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
    acceptP95Ms: number('ACCEPT_P95_MS', 50),
    soonShare: share('SOON_SHARE', 0.99),
  }),
);

export const setup = begin;

export default function press() {
  const n = exec.scenario.iterationInTest;
  if (n < plan.requests) {
    pressAndWait(personOf(people, n), { again: n % 100 < REREAD * 100 });
  }
}

export const handleSummary = summaryOf('burst', plan);
