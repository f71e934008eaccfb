// Everybody presses at nine: 10,000 people in 10 s. Each submits a ticket and holds a long poll until the outcome.

import { crowd } from './lib/crowd.js';
import { begin, steadily } from './lib/run.js';
import { count, number, share } from './lib/settings.js';

const RATE = count('RATE', 1000);
const SECONDS = count('SECONDS', 10);

const burst = crowd('burst', {
  requests: RATE * SECONDS,
  seconds: SECONDS,
  arrivals: steadily(RATE, SECONDS),
  // A thousand are in use: waits are about a second. The others are for waits that grow, and each opens a connection of its own.
  vus: count('VUS', 1750),
  limits: { acceptP95Ms: number('ACCEPT_P95_MS', 50), soonShare: share('SOON_SHARE', 0.99) },
  isOpen: true,
});

export const options = burst.options;
export const setup = begin;
export const openApp = burst.openApp;
export default burst.press;
export const handleSummary = burst.summary;
