// Who presses the button: people that no run before has seen, each with a token and a wish, made before the load begins.

import { hmac } from 'k6/crypto';
import { SharedArray } from 'k6/data';
import encoding from 'k6/encoding';

import { count, path } from './settings.js';
import { madeUpWishes, wishesOfTrace } from './wishes.js';

// Longer than any run.
const TOKEN_VALID_SECONDS = 24 * 3600;
// The shortest secret that servers take, in bytes (RFC 7518, section 3.2).
const SHORTEST_SECRET = 32;

// Read here: files can be opened only while k6 loads the script.
const SECRET_FILE = path('JWT_SECRET_FILE');
const TRACE = path('TRACE');

// Says whose a token is: a JSON Web Token signed with the servers' secret, else what `--auth dev` takes.
function tokenMaker() {
  if (SECRET_FILE === '') {
    return (user) => `dev.${user}`;
  }
  const secret = open(SECRET_FILE).trim();
  if (secret.length < SHORTEST_SECRET) {
    throw new Error(`the secret in ${SECRET_FILE} has fewer than ${SHORTEST_SECRET} bytes`);
  }
  const header = encoding.b64encode('{"alg":"HS256","typ":"JWT"}', 'rawurl');
  const exp = Math.floor(Date.now() / 1000) + TOKEN_VALID_SECONDS;
  return (user) => {
    const signed = `${header}.${encoding.b64encode(JSON.stringify({ sub: user, exp }), 'rawurl')}`;
    return `${signed}.${hmac('sha256', secret, signed, 'base64rawurl')}`;
  };
}

// Each element of a SharedArray is built and frozen anew when it is looked at, by its keys; a text's keys are its letters, so the two
// texts are within an array.
function makePeople(howMany) {
  const token = tokenMaker();
  const wishes = TRACE === ''
    ? madeUpWishes(Math.min(howMany, 10000), count('SEED', 1))
    : wishesOfTrace(open(TRACE), TRACE);
  const bodies = wishes.map((wish) => JSON.stringify(wish));
  // New each time: who met is not matched again for a day, and a user has one waiting ticket.
  const run = `k6-${Date.now().toString(36)}`;
  const people = [];
  for (let n = 0; n < howMany; n += 1) {
    people.push([`Bearer ${token(`${run}-${n}`)}`, bodies[n % bodies.length]]);
  }
  return people;
}

/** So many people, in memory once for all virtual users. */
export function newPeople(howMany) {
  return new SharedArray('people', () => makePeople(howMany));
}

/** What the person with this number sends. */
export function personOf(people, n) {
  const [bearer, body] = people[n];
  return { n, bearer, body };
}
