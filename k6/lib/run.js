// What all scenarios share: k6's options, the beginning, and the summary at the end.

import { startCounting } from './measures.js';
import { json, table } from './summary.js';
import { text } from './settings.js';

// A phone gives up after its patience; the rest is for the slowest answers.
const GRACEFUL_STOP = '90s';

/** An executor under which so many people a second come for so long. k6 starts one more or less than that. */
export function steadily(rate, seconds) {
  return { executor: 'constant-arrival-rate', rate, duration: `${seconds * 1000 + 100}ms` };
}

// After a ramp's last second a few more come, slowly, whatever its rate was. k6 begins the last one that is wanted at the very end and
// leaves it out when it is late by a moment; so it has half a second to begin it, and five more than are wanted are begun.
const SPARE = { target: 10, duration: '500ms' };

/** An executor whose rate grows from nothing to so many people a second within so long. Those who are too many do nothing. */
export function growing(rate, seconds) {
  const stages = [{ target: rate, duration: `${seconds}s` }, { target: SPARE.target, duration: '0s' }, SPARE];
  return { executor: 'ramping-arrival-rate', startRate: 0, stages };
}

/** k6's options. `phones`: those who press; `opening`: those who open the app before. */
export function optionsFor({ phones, ...others }, thresholds) {
  return {
    scenarios: { ...others, phones: { timeUnit: '1s', gracefulStop: GRACEFUL_STOP, ...phones } },
    thresholds,
    // Each tag is a time series more for every value; the requests' names are ours.
    systemTags: ['name', 'status', 'scenario'],
    summaryTrendStats: ['min', 'p(50)', 'p(95)', 'p(99)', 'max'],
    discardResponseBodies: true,
    setupTimeout: '60s',
  };
}

/** k6's `setup`: the load begins when it returns. */
export function begin() {
  startCounting();
  return { startedMs: Date.now() };
}

/**
 * k6's `handleSummary`: a table for people, and JSON in the file that SUMMARY names. `plan`: how many `requests` were to be sent in
 * how many `seconds`, beginning `from` seconds after k6's own beginning.
 */
export function summaryOf(name, plan) {
  return (data) => {
    const summary = json(name, plan, data);
    const outputs = { stdout: table(summary) };
    const file = text('SUMMARY');
    if (file !== '') {
      outputs[file] = `${JSON.stringify(summary, null, 2)}\n`;
    }
    return outputs;
  };
}
