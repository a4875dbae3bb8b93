// The pure modules of the subway alarm, under Node: the countdown, the five steps, and what is told of an alarm.
import assert from 'node:assert/strict';
import { test } from 'node:test';

const arrive = new URL('../../Sources/CPages/files/arrive/', import.meta.url);
const timer = await import(new URL('timer.mjs', arrive));
const steps = await import(new URL('steps.mjs', arrive));
const gateway = await import(new URL('gateway.mjs', arrive));
const { strings } = await import(new URL('strings.mjs', arrive));

test('S3-15: minutes are counted down in seconds, and each second is shown once', () => {
  const end = timer.endOf(1_000, 47 * 60);
  assert.equal(end, 1_000 + 2_820_000);
  assert.equal(timer.left(end, 1_000), 2_820);
  assert.deepEqual(timer.parts(2_820), { minutes: 47, seconds: 0 });
  assert.deepEqual(timer.parts(timer.left(end, 2_001)), { minutes: 46, seconds: 59 });
  // A page that waits as it is told sees every second, the last one until it is over.
  const seen = [];
  for (let now = 500; ; now += timer.pause(timer.endOf(0, 3), now)) {
    seen.push(timer.left(timer.endOf(0, 3), now));
    if (timer.pause(timer.endOf(0, 3), now) === 0) break;
  }
  assert.deepEqual(seen, [3, 2, 1, 0]);
});

test('S3-15: a page that slept past the end is at the end, and never before it', () => {
  const end = timer.endOf(0, 60);
  assert.equal(timer.left(end, 59_999), 1);
  assert.equal(timer.left(end, 60_000), 0);
  assert.equal(timer.left(end, 10 * 60_000), 0);
  assert.equal(timer.pause(end, 10 * 60_000), 0);
  assert.equal(timer.pause(end, 0), 1_000);
  assert.equal(timer.pause(end, 59_250), 750);
});

test('S3-16: set, wait, turn off, leave: nothing else leads from one state to the next', () => {
  const states = ['ready', 'running', 'ringing', 'over', 'gone'], events = ['start', 'end', 'stop', 'leave'];
  let state = 'ready';
  for (const event of events) state = timer.after(state, event);
  assert.equal(state, 'gone');
  for (const [at, from] of states.entries()) {
    for (const [step, event] of events.entries()) assert.equal(timer.after(from, event), step === at ? states[at + 1] : from, `${from} ${event}`);
  }
  assert.deepEqual(states.map(timer.action), ['start', null, 'stop', 'leave', null]);
  assert.deepEqual(states.map(timer.told), [null, null, 'rang', 'stopped', null]);
  const korean = ['ready', 'running', 'ringing', 'over'].map((name) => strings[`button.${name}`][0]);
  assert.deepEqual(korean, ['알람 설정', '알람 설정 완료', '알람 끄기', '시작 화면']);
  assert.deepEqual(['running', 'ringing'].map((name) => strings[`state.${name}`][0]), ['가는 중', '2정거장 전']);
  assert.equal(strings.ended[0], '타이머 종료');
  assert.equal(strings.note[0], '도착 2정거장 전에 알려드릴게요');
});

const lines = { code: 1, names: ['1호선', '2호선'] }, stations = { code: 2, names: ['a', 'b', 'c', 'd'] };

/** At the goal's step, with a and d chosen. */
function chosen() {
  let trip = { ...steps.empty, cities: ['대구', '부산'] };
  trip = steps.next(steps.choose(trip, '대구'), lines);
  trip = steps.next(steps.choose(trip, '1호선'), stations);
  trip = steps.next(steps.choose(trip, 'a'), null);
  return steps.choose(trip, 'd');
}

test('S3-14: three requests for a trip; stations are chosen without any', () => {
  let trip = { ...steps.empty, cities: ['대구'] };
  assert.equal(steps.request(trip), null);
  trip = steps.choose(trip, '대구');
  assert.equal(steps.request(trip), '1@대구;');
  trip = steps.choose(steps.next(trip, lines), '2호선');
  assert.equal(steps.request(trip), '2@대구@2호선;');
  trip = steps.choose(steps.next(trip, stations), 'a');
  assert.equal(trip.step, 'from');
  assert.equal(steps.request(trip), null);
  trip = steps.choose(steps.next(trip, null), 'd');
  assert.equal(steps.request(trip), '3@대구@2호선@a@d;');
  trip = steps.next(trip, steps.read('3@b@47'));
  assert.deepEqual([trip.step, trip.alarm], ['timer', { station: 'b', minutes: 47 }]);
});

test('S3-17: where the goal is near one is back at the stations, and what was chosen stays', () => {
  const trip = chosen();
  assert.equal(steps.next(trip, steps.read('0@')), trip);
  const again = steps.again(trip);
  assert.deepEqual([again.step, again.from, again.to, again.line], ['from', 'a', 'd', '1호선']);
});

test('back keeps choices, another choice forgets what came of the old one', () => {
  let trip = chosen();
  for (const step of ['from', 'line', 'city', 'city']) {
    trip = steps.back(trip);
    assert.equal(trip.step, step);
  }
  assert.deepEqual([trip.city, trip.line, trip.from, trip.to], ['대구', '1호선', 'a', 'd']);
  assert.equal(steps.choose(trip, '대구'), trip);
  assert.equal(steps.choose(trip, '평양'), trip);
  const other = steps.choose(trip, '부산');
  assert.deepEqual([other.city, other.line, other.lines, other.from, other.to, other.stations], ['부산', null, [], null, null, []]);
  // An answer to another question leads nowhere.
  assert.equal(steps.next(trip, stations), trip);
});

test('answers are read as the protocol has them', () => {
  assert.deepEqual(steps.read('1@1호선@2호선'), { code: 1, names: ['1호선', '2호선'] });
  assert.deepEqual(steps.read('0@'), { code: 0, names: [] });
  assert.deepEqual(steps.read('3@반야월@47'), { code: 3, station: '반야월', minutes: 47 });
  assert.deepEqual(steps.read('9@unknown_line'), { code: 9, fault: 'unknown_line' });
});

test('what became of an alarm is told until it is kept, and not where there is no gateway', async (t) => {
  const answers = [null, 503, 200], asked = [], pauses = [];
  t.mock.method(globalThis, 'fetch', async (url, options) => {
    asked.push([url, JSON.parse(options.body)]);
    const status = answers.shift();
    if (status === null) throw new TypeError('no network');
    return { ok: status === 200, status, json: async () => ({ state: 'rang' }) };
  });
  const told = await gateway.tell('trip', 'alarm', 'rang', async (ms) => { pauses.push(ms); });
  assert.deepEqual(told, { state: 'rang' });
  assert.deepEqual(pauses, [1_000, 2_000]);
  assert.equal(asked.length, 3);
  assert.ok(asked.every(([url, body]) => url === '/v1/gateway/arrive/alarms' && body.alarm === 'alarm' && body.state === 'rang'));
  answers.push(404);
  assert.equal(await gateway.tell('trip', 'alarm', 'stopped', async () => {}), null);
});
