// The evening begins: as many people as in a burst, but the rate grows from nothing to its peak.

import exec from 'k6/execution';

import { thresholds } from './lib/measures.js';
import { newPeople, personOf } from './lib/people.js';
import { pressAndWait } from './lib/phone.js';
import { begin, optionsFor, summaryOf } from './lib/run.js';
import { count, number, share } from './lib/settings.js';

const RATE = count('RATE', 1000);
const SECONDS = count('SECONDS', 20);
const VUS = count('VUS', 2500);
const REREAD = share('REREAD', 0.1);
// The area of a triangle.
const plan = { requests: Math.floor((RATE * SECONDS) / 2), seconds: SECONDS };

const people = newPeople(plan.requests);

export const options = optionsFor(
  {
    executor: 'ramping-arrival-rate',
    startRate: 0,
    stages: [
      { target: RATE, duration: `${SECONDS}s` },
      // The last one or two that rounding leaves over; who is too many below does nothing.
      { target: RATE, duration: '100ms' },
    ],
    preAllocatedVUs: VUS,
    maxVUs: VUS,
  },
  thresholds({
    requests: plan.requests,
    acceptP95Ms: number('ACCEPT_P95_MS', 50),
    soonShare: share('SOON_SHARE', 0.95),
  }),
);

export const setup = begin;

export default function press() {
  const n = exec.scenario.iterationInTest;
  if (n < plan.requests) {
    pressAndWait(personOf(people, n), { again: n % 100 < REREAD * 100 });
  }
}

export const handleSummary = summaryOf('ramp', plan);
