// People who each press once and wait for their outcome: what burst, ramp and spike share.

import { sleep } from 'k6';
import exec from 'k6/execution';

import { counters, thresholds } from './measures.js';
import { newPeople, personOf } from './people.js';
import { open, pressAndWait } from './phone.js';
import { optionsFor, summaryOf } from './run.js';
import { share } from './settings.js';

// Within how long the apps are opened, and when all of them are.
const OPENING_SECONDS = 4;
const OPENED_SECONDS = 6;

/**
 * The parts of a script.
 *
 * `requests`, `seconds`: how many people come, within how long. `arrivals`: the executor and its rates. `vus`: its virtual users.
 * `isOpen`: whether everybody has opened the app before the first one presses, as before an hour that all wait for. k6 then also
 * has behind it what virtual users cost at first, which phones do not have.
 */
export function crowd(name, { requests, seconds, arrivals, vus, limits, isOpen = false }) {
  const REREAD = share('REREAD', 0.1);
  const people = newPeople(requests);
  const from = isOpen ? OPENED_SECONDS : 0;
  const phones = { ...arrivals, preAllocatedVUs: vus, maxVUs: vus, startTime: `${from}s` };
  const opening = {
    executor: 'per-vu-iterations', vus, iterations: 1, maxDuration: `${OPENED_SECONDS}s`, gracefulStop: '0s', exec: 'openApp',
  };
  return {
    options: optionsFor(isOpen ? { opening, phones } : { phones }, thresholds({ requests, ...limits })),
    /** Opens the app. */
    openApp() {
      sleep(Math.random() * OPENING_SECONDS);
      open(personOf(people, exec.vu.idInTest % requests));
    },
    /** Presses and waits; those who are too many, which k6's rounding and a ramp's end leave over, do nothing. */
    press() {
      const n = exec.scenario.iterationInTest;
      if (n < requests) {
        counters.started.add(1);
        pressAndWait(personOf(people, n), { again: n % 100 < REREAD * 100 });
      }
    },
    summary: summaryOf(name, { requests, seconds, from }),
  };
}
