// What phones do besides pressing once and waiting: change their mind, tap twice, lose the network, send nonsense.

import { sleep } from 'k6';
import http from 'k6/http';

import { complain, counters } from './measures.js';
import { CURRENT, cancel, follow, judge, press, pressing, read, request, server, settle } from './phone.js';

/** Presses, thinks better of it, and cancels: whoever was faster, the match or the hand, the ticket says so. */
export function cancelled(person) {
  const started = Date.now();
  const ticket = press(person);
  if (ticket !== null) {
    sleep((person.n % 10) / 10);
    settle(cancel(person, ticket, person.n + 1), started, false);
  }
}

/** Taps twice, the second time at the next server while the first is on its way: one press, one ticket. */
export function doubleTap(person) {
  const started = Date.now();
  const parameters = pressing(person, { key: `tap-${person.n}`, keepBody: true });
  const tap = (n) => ({ method: 'POST', url: `${server(n)}/v1/tickets`, body: person.body, params: parameters });
  const answers = http.batch([tap(person.n), tap(person.n + 1)]);
  const [first] = answers.filter((answer) => answer.status === 201);
  const [second] = answers.filter((answer) => answer.status === 200);
  if (first === undefined || second === undefined) {
    if (answers.every((answer) => answer.status === 201)) {
      complain('a double tap was accepted twice', answers[1]);
    }
    // Each is judged by itself: two that were refused for lack of room are no fault.
    answers.forEach((answer) => {
      const ticket = judge(answer);
      if (ticket !== null) {
        settle(cancel(person, ticket, person.n), started, false);
      }
    });
    return;
  }
  counters.existing.add(1);
  const ticket = judge(first);
  const other = JSON.parse(second.body).id;
  if (other !== ticket) {
    complain(`a double tap made two tickets, ${ticket} and ${other}`, second);
  }
  settle(follow(person, ticket, started), started);
}

/** Presses, and its connection is cut while it waits. Half of them come back and ask where they stand. */
export function forgotten(person) {
  const started = Date.now();
  const ticket = press(person);
  if (ticket === null) {
    return;
  }
  const { answer, seen } = read(person, ticket, { from: person.n + 1, wait: 25, timeout: '300ms' });
  if (seen !== null && seen.state !== 'waiting') {
    settle(seen, started);
    return;
  }
  // 0: cut off by the phone itself.
  if (answer.status !== 0) {
    complain('a poll that was to be cut off', answer);
  }
  if (person.n % 2 === 0) {
    counters.abandoned.add(1);
    return;
  }
  sleep(2);
  const parameters = request(person.bearer, CURRENT, { keepBody: true });
  const current = http.get(`${server(person.n + 2)}/v1/tickets/current`, parameters);
  if (current.status !== 200 || JSON.parse(current.body).id !== ticket) {
    complain('the current ticket is not the one that was made', current);
  }
  settle(follow(person, ticket, started), started, false);
}

// What no app should send, and the status that says so.
const NONSENSE = [
  { status: 401, body: '{"region":"kr.seoul","interests":["jazz"]}', bearer: 'Bearer nobody' },
  { status: 400, body: '{"region":"kr.seoul"' },
  { status: 422, body: '{"region":"kr.seoul","interests":[]}' },
  { status: 422, body: '{"region":"Not A Region","interests":["jazz"]}' },
  { status: 404, ticket: 'no-such-ticket' },
];

/** Sends nonsense, which is refused each time in the way that fits. */
export function nonsense(person) {
  const { status, body, bearer = person.bearer, ticket } = NONSENSE[person.n % NONSENSE.length];
  const answer = ticket === undefined
    ? http.post(`${server(person.n)}/v1/tickets`, body, pressing({ bearer }))
    : http.get(`${server(person.n)}/v1/tickets/${ticket}`, request(bearer, 'GET /v1/tickets/{id}'));
  if (answer.status === status) {
    counters.refusedAsTheyShould.add(1);
  } else {
    complain(`nonsense that should be refused with ${status}`, answer);
  }
}
