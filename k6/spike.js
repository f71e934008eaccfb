// A push message brings everybody at once: 10,000 people in 2 s. On a small machine k6 itself may be too slow to send them
// all: what it drops is reported and fails nothing.

import { crowd } from './lib/crowd.js';
import { begin, steadily } from './lib/run.js';
import { count, number, share } from './lib/settings.js';

const RATE = count('RATE', 5000);
const SECONDS = count('SECONDS', 2);

const spike = crowd('spike', {
  requests: RATE * SECONDS,
  seconds: SECONDS,
  arrivals: steadily(RATE, SECONDS),
  vus: count('VUS', 6000),
  limits: { acceptP95Ms: number('ACCEPT_P95_MS', 3000), soonShare: share('SOON_SHARE', 0.9), mayDrop: true },
});

export const options = spike.options;
export const setup = begin;
export default spike.press;
export const handleSummary = spike.summary;
