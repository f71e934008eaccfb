// The evening begins: as many people as in a burst, but the rate grows from nothing to its peak.

import { crowd } from './lib/crowd.js';
import { begin, growing } from './lib/run.js';
import { count, number, share } from './lib/settings.js';

const RATE = count('RATE', 1000);
const SECONDS = count('SECONDS', 20);

const ramp = crowd('ramp', {
  // The area of a triangle, and somebody comes even when that is none.
  requests: Math.max(Math.floor((RATE * SECONDS) / 2), 1),
  seconds: SECONDS,
  arrivals: growing(RATE, SECONDS),
  vus: count('VUS', 1750),
  limits: { acceptP95Ms: number('ACCEPT_P95_MS', 50), soonShare: share('SOON_SHARE', 0.95) },
  isOpen: true,
});

export const options = ramp.options;
export const setup = begin;
export const openApp = ramp.openApp;
export default ramp.press;
export const handleSummary = ramp.summary;
