// What of the chat knows no document: what is sent once, what is followed without a gap, how a reply is put together, when a voice ends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { told } from '../../Sources/CPages/files/shared/api.mjs';
import { order, row } from '../../Sources/CPages/files/shared/rows.mjs';
import { Feed } from '../../Sources/CPages/files/shared/feed.mjs';
import { eventID } from '../../Sources/CPages/files/shared/ids.mjs';
import { Outbox } from '../../Sources/CPages/files/shared/outbox.mjs';
import { Pieces } from '../../Sources/CPages/files/chat/pieces.mjs';
import { patience, questions, waiting } from '../../Sources/CPages/files/chat/questions.mjs';
import { isOver, levelOf } from '../../Sources/CPages/files/chat/voice.mjs';

const calm = () => new Promise((done) => { setImmediate(done); });
const problem = (status, code) => Object.assign(new Error(code), { status, code });

/** An outbox whose node answers by `answers`, one after the other; what it stored is in `stored`. */
function box(answers, kept = []) {
  const stored = [], waits = [];
  const made = {
    stored, waits, kept: { list: kept },
    outbox: new Outbox({
      send: async (event) => {
        const answer = answers.shift();
        if (answer instanceof Error) throw answer;
        stored.push(event.id);
      },
      load: () => made.kept.list, save: (list) => { made.kept.list = JSON.parse(JSON.stringify(list)); }, changed: () => {}, later: (body, ms) => waits.push([body, ms]),
    }),
  };
  return made;
}

const message = (id, subject = 'conversation/c') => ({ id, subject, type: 'message.posted', data: { text: id } });

test('what fails is sent again with the same id, in order, and by itself', async () => {
  const { outbox, stored, waits, kept } = box([problem(0, 'E_UNREACHABLE'), null, null]);
  outbox.add(message('a'));
  outbox.add(message('b'));
  await calm();
  assert.deepEqual(outbox.items.map((one) => [one.event.id, one.state]), [['a', 'failed'], ['b', 'waiting']]);
  assert.deepEqual(kept.list.map((one) => one.event.id), ['a', 'b']);
  assert.equal(waits.length, 1);
  outbox.again('a');
  await calm();
  assert.deepEqual(stored, ['a', 'b']);
  waits[0][0]();
  await calm();
  assert.deepEqual(stored, ['a', 'b']);
  // It is shown until it comes back from the log.
  assert.deepEqual(outbox.items.map((one) => one.state), ['sent', 'sent']);
  assert.deepEqual(kept.list, []);
  outbox.seen('a');
  assert.deepEqual(outbox.of('conversation/c').map((one) => one.event.id), ['b']);
});

test('what the node refuses for good holds up nothing, and is not sent again by itself', async () => {
  const { outbox, stored } = box([problem(409, 'E_ID_REUSED'), null]);
  outbox.add(message('a'));
  outbox.add(message('b'));
  await calm();
  outbox.flush();
  await calm();
  assert.deepEqual([outbox.items.map((one) => [one.state, one.code]), stored], [[['refused', 'E_ID_REUSED'], ['sent', null]], ['b']]);
});

test('what an earlier visit left is sent by the next one, and what two tabs keep is kept', async () => {
  const { outbox, stored, kept } = box([null, null], [{ event: message('old'), state: 'sending' }]);
  outbox.start();
  await calm();
  assert.deepEqual(stored, ['old']);
  kept.list = [{ event: message('other tab'), state: 'waiting' }];
  outbox.add(message('mine'));
  assert.deepEqual(kept.list.map((one) => one.event.id), ['other tab', 'mine']);
  await calm();
  assert.deepEqual(kept.list.map((one) => one.event.id), ['other tab']);
});

test('an event that the log shows before the answer comes is shown once', async () => {
  let answer;
  const outbox = new Outbox({ send: () => new Promise((done) => { answer = done; }), load: () => [], save: () => {}, changed: () => {} });
  outbox.add(message('a'));
  outbox.seen('a');
  answer();
  await calm();
  assert.deepEqual(outbox.items, []);
});

/** A feed of these streams, one for each time it is opened; an error is one that it cannot open. */
async function follow(streams) {
  const seen = [], asked = [], ready = [];
  const feed = new Feed({
    open: async (after) => {
      asked.push(after);
      const stream = streams.shift();
      if (stream === undefined) { feed.isOver = true; throw problem(0, 'E_UNREACHABLE'); }
      if (stream instanceof Error) throw stream;
      const bytes = new TextEncoder().encode(stream.map((line) => JSON.stringify(line) + '\n').join(''));
      return { body: new Blob([bytes.slice(0, 7), bytes.slice(7)]).stream() };
    },
    event: (event) => seen.push(event.id), live: (item) => seen.push(item.text), ready: (isAnew) => ready.push(isAnew), over: (error) => seen.push(error.code), state: () => {},
  });
  feed.rest = async () => {};
  await feed.run();
  return { seen, asked, ready };
}

test('a feed goes on behind what it had, and begins anew where its place is lost', async () => {
  const caught = (cursor) => ({ control: 'caught-up', cursor });
  assert.deepEqual(await follow([
    [caught('c0'), { id: 'a', cursor: 'c1' }, { control: 'live', text: 'piece' }],
    problem(503, 'E_BUSY'),
    [{ id: 'b', cursor: 'c2' }, caught('c2'), { control: 'heartbeat', cursor: 'c9' }, { control: 'closing', retry_ms: 1 }],
    problem(409, 'E_CURSOR'),
    [caught('d0'), { control: 'reset' }],
  ]), { seen: ['a', 'piece', 'b'], asked: ['now', 'c1', 'c1', 'c9', 'now', 'now'], ready: [true, false, true] });
});

test('a feed ends where asking again is of no use', async () => {
  assert.deepEqual(await follow([problem(401, 'E_TOKEN_EXPIRED'), []]), { seen: ['E_TOKEN_EXPIRED'], asked: ['now'], ready: [] });
});

test('pieces are put together by their numbers; from a gap on the stored reply is waited for', () => {
  const pieces = new Pieces(), piece = (n, text, cause = 'q') => pieces.take({ conversation: 'c', in_reply_to: cause, author: 'bot', n, text }, 0);
  const texts = (now = 0) => pieces.of('c', now).map((one) => one.text);
  assert.deepEqual([piece(0, '물을 '), piece(1, '드세요'), texts()], [true, false, ['물을 드세요']]);
  piece(3, '!');
  assert.deepEqual(texts(), [null]);
  piece(4, '!');
  assert.deepEqual(texts(), [null]);
  // A worker that died: another begins anew.
  piece(0, '다시 ');
  assert.deepEqual(texts(), ['다시 ']);
  piece(7, '늦게 온 사람', 'other');
  assert.deepEqual(texts(), ['다시 ', null]);
  pieces.end({ type: 'bot.replied', author: 'bot', cause: 'q' });
  pieces.end({ type: 'bot.failed', author: 'bot', cause: 'x', data: { inReplyTo: 'other' } });
  assert.deepEqual(texts(), []);
  piece(0, 'a');
  assert.deepEqual([texts(70_000), texts(70_001)], [['a'], []]);
});

test('a voice ends when nothing changes any more, or when it is too quiet', () => {
  assert.deepEqual([0, -25, -50, -90].map(levelOf), [1, 0.5, 0, 0]);
  const ends = (levels) => levels.findIndex((_, at) => isOver(levels.slice(0, at + 1)));
  const talk = Array.from({ length: 40 }, (_, at) => at % 2 ? 0.4 : 0.7);
  assert.equal(ends(talk), -1);
  assert.equal(ends([...talk.slice(0, 11), ...Array(15).fill(0.5)]), 25);
  assert.equal(ends([...talk.slice(0, 10), ...Array(15).fill(0).map((_, at) => 0.5 + (at % 2) * 0.11)]), -1);
  // Each 1.6 s: before below 0.25, and now below 0.175.
  const quiet = [0.4, 0.7, 0.4, 0.7, 0.4, 0.7, 0.24, 0.7, 0.4, 0.7, 0.4, 0.7, 0.4, 0.7, 0.4, 0.17];
  assert.equal(ends(quiet), -1);
  assert.equal(ends(quiet.with(7, 0.24)), 15);
  assert.equal(ends(quiet.with(7, 0.25)), -1);
  assert.equal(ends(quiet.with(7, 0.24).with(15, 0.175)), -1);
});

test('ids are those of their millisecond, and no two are one', () => {
  const made = Array.from({ length: 1_000 }, () => eventID(0x0198e2c477aa));
  for (const id of made) assert.match(id, /^0198e2c4-77aa-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(new Set(made).size, 1_000);
});

test('rows stand as the server has them: by display time, hlc, origin and sequence', () => {
  const line = (id, time, hlc, origin, sequence) => row({ event: { id, type: 'message.posted', user: 'kim', time, hlc, sequence, source: `/nodes/${'ab'.repeat(32)}/${origin}`, data: { text: id } } });
  const at = (ms) => new Date(ms).toISOString(), hlc = (ms, count) => `${ms.toString(16).padStart(12, '0')}-000${count}`;
  const [one, other] = ['00000000-0000-aaaa-0000-000000000001', '00000000-0000-aaaa-0000-000000000002'], now = 1_800_000_000_000;
  const rows = [line('said before', at(now - 1), hlc(now + 9, 0), other, '1'), line('first', at(now), hlc(now, 0), other, '2'), line('second', at(now), hlc(now, 1), one, '10'),
    line('of another', at(now), hlc(now, 1), other, '3'), line('third', at(now), hlc(now, 1), other, '11'), line('of the future', at(now + 60_000), hlc(now + 2, 0), one, '11')];
  for (let turn = 0; turn < rows.length; turn++) assert.deepEqual([...rows.slice(turn), ...rows.slice(0, turn)].sort(order).map((each) => each.id), rows.map((each) => each.id));
});

test('an error is told by the line that was refused for its own sake', () => {
  assert.equal(told('{"code":"E_ROLE","detail":"no"}').code, 'E_ROLE');
  assert.equal(told('{"type":"rejected","code":"E_BATCH"}\n{"type":"rejected","code":"E_AUTHOR","message":"x"}\n{"type":"end"}\n').code, 'E_AUTHOR');
  assert.deepEqual([told(''), told('<html>')], [{}, {}]);
});

const said = (id, type, more = {}, at = 1_000_000) => row({ event: { id, type, user: 'kim', author: type.startsWith('bot.re') && type !== 'bot.retryRequested' || type === 'bot.failed' ? 'bot' : 'kim', subject: 'conversation/c', time: new Date(at).toISOString(), ...more } });
const states = (rows, isVoice) => questions(rows, 'kim', isVoice).map((one) => `${one.id} ${one.state}`);

test('a question waits until the record has an answer, a final failure or that it was taken back', () => {
  const asked = said('q', 'message.posted', { position: '1', data: { text: '아파요' } }), of = { inReplyTo: 'q' };
  assert.deepEqual(states([asked]), ['q waits']);
  assert.deepEqual(states([asked, said('r', 'bot.replied', { position: '2', cause: 'q', data: { text: '네' } })]), ['q answered']);
  assert.deepEqual(states([asked, said('f', 'bot.failed', { position: '2', data: { ...of, final: false } })]), ['q waits']);
  const failed = said('f', 'bot.failed', { position: '2', cause: 'q', data: { ...of, final: true } });
  assert.deepEqual(states([asked, failed]), ['q failed']);
  // The reader's clock is behind: the retry stands before the failure, and was stored after it.
  const again = said('a', 'bot.retryRequested', { position: '3', data: of }, 1);
  assert.deepEqual(states([again, asked, failed]), ['q waits']);
  assert.deepEqual(questions([again, asked, failed, said('g', 'bot.failed', { position: '4', data: of })], 'kim')[0].by, 'g');
  // What is on its way has no place yet, and comes last.
  assert.deepEqual(states([asked, failed, said('a', 'bot.retryRequested', { data: of }), said('c', 'bot.cancelled', { data: of })]), ['q cancelled']);
  // The answer came all the same.
  assert.deepEqual(states([asked, said('r', 'bot.replied', { position: '2', cause: 'q', data: {} }), said('c', 'bot.cancelled', { position: '3', data: of })]), ['q answered']);
});

test('what others ask or take back, what is retracted, and what has no words is awaited by none', () => {
  const asked = said('q', 'message.posted', { position: '1', data: { text: '아파요' } });
  assert.deepEqual(states([said('o', 'message.posted', { author: 'lee', user: 'lee', data: { text: '제 것' } })]), []);
  assert.deepEqual(states([asked, said('c', 'bot.cancelled', { position: '2', author: 'lee', data: { inReplyTo: 'q' } })]), ['q waits']);
  assert.deepEqual(states([{ ...asked, retracted: { id: 'x' } }]), []);
  const voice = said('v', 'message.posted', { data: { attachments: [{ sha256: 'ab', mediaType: 'audio/webm' }, null] } });
  assert.deepEqual([states([voice]), states([voice], true)], [[], ['v waits']]);
});

test('an answer is not waited for for ever', () => {
  const list = questions([said('q', 'message.posted', { data: { text: '아파요' } })], 'kim');
  assert.deepEqual([waiting(list, 1_000_000).length, waiting(list, 1_000_000 + patience).length], [1, 0]);
});

test('pieces of an answer that was taken back are dropped, whoever took it back', () => {
  const pieces = new Pieces();
  pieces.take({ conversation: 'c', in_reply_to: 'q', author: 'bot', n: 0, text: '물' }, 0);
  pieces.end({ type: 'bot.cancelled', user: 'kim', data: { inReplyTo: 'q' } });
  assert.deepEqual(pieces.of('c', 0), []);
});
