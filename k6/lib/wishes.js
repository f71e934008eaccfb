// What people ask for: where they are and what they like.

/** The wishes of a trace: one JSON object a line with `region` and `interests`. Its times and users are not used. */
export function wishesOfTrace(lines, path) {
  const wishes = [];
  lines.split('\n').forEach((line, at) => {
    if (line.trim() === '') {
      return;
    }
    const { region, interests } = JSON.parse(line);
    if (typeof region !== 'string' || !Array.isArray(interests)) {
      throw new Error(`${path}:${at + 1} has no region or no interests`);
    }
    wishes.push({ region, interests });
  });
  if (wishes.length === 0) {
    throw new Error(`${path} is empty`);
  }
  return wishes;
}

// The rest makes wishes up, as skewed as real ones: `replay generate` draws from the same distributions.

const REGIONS = [
  ['kr.seoul', 40],
  ['kr.gyeonggi', 25],
  ['kr.busan', 15],
  ['kr.daegu', 10],
  ['kr.gwangju', 7],
  ['kr.jeju', 3],
];

// How many interests people have: from, to, and how many of 10,000 people are between.
const INTEREST_COUNTS = [
  [1, 1, 2270],
  [2, 2, 1310],
  [3, 3, 950],
  [4, 4, 760],
  [5, 6, 1220],
  [7, 9, 1320],
  [10, 13, 1300],
  [14, 18, 480],
  [19, 24, 300],
  [25, 42, 90],
];

const INTERESTS = 84;

// About 80 % of people hold the most popular interest; from the second on each has 88 % of the weight of the one before.
function popularity() {
  const weights = [66000];
  for (let weight = 10000; weights.length < INTERESTS; weight = Math.floor((weight * 88) / 100)) {
    weights.push(Math.max(weight, 1));
  }
  return weights;
}

// An index, as likely as its weight.
function pick(weights, total, chance) {
  let rest = chance() * total;
  for (let at = 0; at < weights.length; at += 1) {
    rest -= weights[at];
    if (rest < 0) {
      return at;
    }
  }
  return weights.length - 1;
}

const sum = (weights) => weights.reduce((all, weight) => all + weight, 0);

/** Numbers from 0 to below 1 that a seed repeats (the generator mulberry32). */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** So many made-up wishes. The same seed gives the same ones. */
export function madeUpWishes(howMany, seed) {
  const chance = seeded(seed);
  const regionWeights = REGIONS.map(([, weight]) => weight);
  const countWeights = INTEREST_COUNTS.map(([, , weight]) => weight);
  const weights = popularity();
  const [regionTotal, countTotal, total] = [sum(regionWeights), sum(countWeights), sum(weights)];
  const wishes = [];
  while (wishes.length < howMany) {
    const region = REGIONS[pick(regionWeights, regionTotal, chance)][0];
    const [from, to] = INTEREST_COUNTS[pick(countWeights, countTotal, chance)];
    const wanted = from + Math.floor(chance() * (to - from + 1));
    const left = weights.slice();
    let leftTotal = total;
    const interests = [];
    while (interests.length < wanted) {
      const at = pick(left, leftTotal, chance);
      if (left[at] > 0) {
        interests.push(`interest ${at + 1}`);
        leftTotal -= left[at];
        left[at] = 0;
      }
    }
    wishes.push({ region, interests });
  }
  return wishes;
}
