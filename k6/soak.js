// A whole evening: the same load for half an hour, with the churn that real phones make.

import exec from 'k6/execution';

import { cancelled, doubleTap, forgotten, nonsense } from './lib/churn.js';
import { counters, thresholds } from './lib/measures.js';
import { newPeople, personOf } from './lib/people.js';
import { pressAndWait } from './lib/phone.js';
import { begin, optionsFor, steadily, summaryOf } from './lib/run.js';
import { count, number, seconds, share } from './lib/settings.js';
import { seeded } from './lib/wishes.js';

const RATE = count('RATE', 100);
const SECONDS = seconds('DURATION', '30m');
const VUS = count('VUS', 1000);
const REREAD = share('REREAD', 0.1);
const plan = { requests: Math.floor(RATE * SECONDS), seconds: SECONDS };

// Who does something else than press and wait, and how large a share of all.
const CHURN = [
  [share('CANCELS', 0.04), cancelled],
  [share('DOUBLE_TAPS', 0.04), doubleTap],
  [share('ABANDONED', 0.03), forgotten],
  [share('BAD_REQUESTS', 0.02), nonsense],
];
if (CHURN.reduce((sum, [part]) => sum + part, 0) > 1) {
  throw new Error('CANCELS, DOUBLE_TAPS, ABANDONED and BAD_REQUESTS are more than 1 together');
}

const people = newPeople(plan.requests);

export const options = optionsFor(
  {
    phones: { ...steadily(RATE, SECONDS), preAllocatedVUs: VUS, maxVUs: VUS },
  },
  thresholds({
    requests: plan.requests,
    acceptP95Ms: number('ACCEPT_P95_MS', 50),
    soonShare: share('SOON_SHARE', 0.95),
  }),
);

export const setup = begin;

export default function live() {
  const n = exec.scenario.iterationInTest;
  if (n >= plan.requests) {
    return;
  }
  counters.started.add(1);
  const person = personOf(people, n);
  let drawn = seeded(n)();
  for (let kind = 0; kind < CHURN.length; kind += 1) {
    drawn -= CHURN[kind][0];
    if (drawn < 0) {
      CHURN[kind][1](person);
      return;
    }
  }
  pressAndWait(person, { again: n % 100 < REREAD * 100 });
}

export const handleSummary = summaryOf('soak', plan);
