// The pure modules of the pages, under Node: what they make of texts, of rows, of proofs.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const shared = new URL('../../Sources/CPages/files/shared/', import.meta.url);
const { diff } = await import(new URL('diff.mjs', shared));
const { visible, plain, blocks, inline, excerpt, language } = await import(new URL('text.mjs', shared));
const { row } = await import(new URL('rows.mjs', shared));
const { cell } = await import(new URL('../console/csv.mjs', shared));
const { compare, moments } = await import(new URL('../console/moments.mjs', shared));
const verify = await import(new URL('verify.mjs', shared));
const vectors = new URL('../../docs/reference/vectors/', import.meta.url);
const read = (name) => readFileSync(new URL(name, vectors), 'utf8');

/** Chance that a seed reproduces. */
function chance(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

test('what a diff keeps and drops is the first text, what it keeps and adds the second: 5,000 pairs', () => {
  const next = chance(7), words = ['가', '나 ', '다', 'ab', ' ', '\n', '👩‍👩‍👧', '.', '유심카드', 'é', '\ud800'];
  const text = () => Array.from({ length: next(24) }, () => words[next(words.length)]).join('');
  for (let count = 0; count < 5_000; count++) {
    const a = text(), b = next(3) ? a.slice(0, next(a.length + 1)) + text() + a.slice(next(a.length + 1)) : text();
    const parts = diff(a, b);
    assert.equal(parts.map((part) => part.same ?? part.gone ?? '').join(''), a);
    assert.equal(parts.map((part) => part.same ?? part.new ?? '').join(''), b);
  }
  // Quite different texts end soon.
  const long = diff('가 '.repeat(5_000), '나 '.repeat(5_000));
  assert.equal(long.map((part) => part.same ?? part.gone ?? '').join(''), '가 '.repeat(5_000));
  assert.deepEqual(diff('카드가 커', '카드가 매우 커'), [{ same: '카드가 ' }, { new: '매우 ' }, { same: '커' }]);
});

test('nothing of a text is lost or hidden: its parts are the text, and what is not seen has a number', () => {
  const text = 'a\u202eb\u0000\u200b가\u{e0041}\ufeff\n';
  assert.equal(visible(text).map((part) => part.text ?? String.fromCodePoint(parseInt(part.code, 16))).join(''), text);
  assert.deepEqual(visible('\u3164가\uffa0').map((part) => part.code ?? part.text), ['3164', '가', 'ffa0']);
  assert.equal(plain(text), 'a␣202eb␣0000␣200b가␣e0041␣feff\n');
  assert.equal(plain('가나다\tx'), '가나다\tx');
  assert.equal(excerpt('  가\n나  '.repeat(50), 5), '가 나 …');
});

test('the places of blocks and parts lead back into the text', () => {
  const text = '하나 **둘** https://a.example/x?y=1.\r\n\n1. 첫째\n2) 둘째\n- 점\n```js\n<b>\n```\n끝';
  const kinds = blocks(text);
  assert.deepEqual(kinds.map((one) => one.kind), ['lines', 'numbers', 'points', 'code', 'lines']);
  for (const { lines } of kinds) {
    for (const line of lines) {
      assert.equal(text.slice(line.at, line.at + line.text.length), line.text);
      for (const part of inline(line)) assert.equal(text.slice(part.at, part.at + part.text.length), part.text);
    }
  }
  const [first] = kinds[0].lines;
  assert.deepEqual(inline(first).filter((part) => part.bold).map((part) => part.text), ['둘']);
  assert.deepEqual(inline(first).filter((part) => part.href).map((part) => part.href), ['https://a.example/x?y=1']);
});

test('only https is a link, and only where it shows its own host', () => {
  for (const text of ['javascript:alert(1)', 'http://a.example', 'data:text/html,x', '//a.example', 'https://good.example@evil.example/', 'https://', 'ftp://a', 'HTTPS:/a']) {
    assert.deepEqual(inline({ at: 0, text }).filter((part) => part.href), [], text);
  }
  assert.equal(inline({ at: 0, text: '(https://a.example/b).' })[1].text, 'https://a.example/b');
});

test('a language is told by its letters, or not at all', () => {
  assert.deepEqual(['안녕', 'Thanks!', '123', '日本語です', 'Grüße an alle'].map(language), ['ko', 'en', null, null, 'en']);
});

test('no cell of CSV is taken for a formula', () => {
  assert.deepEqual(['=1+1', '+1', '-1', '@x', '\tx', "'x", '＝1', 'a,"b"\n', 5, null].map(cell), ["'=1+1", "'+1", "'-1", "'@x", "'\tx", "''x", "'＝1", '"a,""b""\n"', '5', '']);
});

const line = (over = {}) => ({ event: { id: 'i', type: 'message.posted', source: `/nodes/${'ab'.repeat(32)}/1b4e28ba-2fa1-11d2-883f-0016d3cca427`, time: '2026-08-01T02:00:00.000Z',
  subject: 'conversation/c', user: 'kim', hlc: '019fbb0ec4d0-0003', sequence: '7', position: '9', data: { text: '하나' } }, ...over });

test('an edit replaces a text only where its author is the author, whatever the server says', () => {
  const edit = (author, applied) => ({ id: 'e', author, time: '2026-08-01T02:01:00.000Z', text: '둘', applied });
  const own = row(line({ text: '둘', original: '하나', edits: [edit('kim', true)] }));
  assert.deepEqual([own.text, own.first, own.edits.length, own.corrections.length], ['둘', '하나', 1, 0]);
  const other = row(line({ edits: [edit('lee', false)] }));
  assert.deepEqual([other.text, other.edits.length, other.corrections.length], ['하나', 0, 1]);
  const lying = row(line({ edits: [edit('lee', true)] }));
  assert.deepEqual([lying.text, lying.edits.length, lying.corrections.length], ['하나', 0, 1]);
  assert.equal(row(line({ text: '둘', original: '하나', edits: [edit('lee', true)] })).text, '하나');
});

test('rows of another moment are the same, changed or not there yet', () => {
  const now = [row(line()), row(line({ event: { ...line().event, id: 'j' }, text: '둘', edits: [{ id: 'e', author: 'kim', text: '둘', applied: true }] })), row(line({ event: { ...line().event, id: 'k' } }))];
  const then = [row(line()), row(line({ event: { ...line().event, id: 'j' } }))];
  assert.deepEqual(compare(now, then).map((one) => one.state), ['same', 'changed', 'later']);
  assert.equal(compare(now, then)[1].row.text, '하나');
  const changed = moments([...now, row(line({ event: { ...line().event, id: 'l', type: 'message.edited', position: '12', data: { message: 'j', text: '둘' } } }))], 'known');
  assert.deepEqual(changed.map((one) => [one.at, one.change]), [[9, false], [12, true]]);
});

test('the vectors of FORMATS are proven, and nothing that differs in one character is', async () => {
  assert.equal(await verify.obstacle(), null);
  const words = read('answer.ndjson'), proven = await verify.answer(words);
  assert.deepEqual([proven.isWhole, proven.events.size, proven.broken.size, proven.heads.length], [true, 3, 0, 1]);
  assert.deepEqual(proven.heads[0].witnesses.map((one) => one.size), [5, 2]);
  const receipt = await verify.receipt(read('receipt.ndjson'));
  assert.equal(receipt.isWhole, true);
  const next = chance(11);
  for (let count = 0; count < 150; count++) {
    const at = next(words.length), letter = words[at];
    const changed = words.slice(0, at) + String.fromCharCode(letter.charCodeAt(0) ^ 1) + words.slice(at + 1);
    await assert.rejects(verify.answer(changed), verify.Broken, `at ${at}: ${letter}`);
  }
  for (const cut of [words.slice(0, -1), words.split('\n').slice(0, -2).join('\n') + '\n', '', 'x\n', '{}\n']) await assert.rejects(verify.answer(cut), verify.Broken);
});

/** The file with one line changed and summed up anew, as one who has no key can do it. */
async function forged(words, change) {
  const lines = words.trimEnd().split('\n').map((text) => JSON.parse(text));
  change(lines);
  const end = lines.pop(), body = lines.map((one) => JSON.stringify(one)).join('\n') + '\n';
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body)));
  delete end.signature;
  return body + JSON.stringify({ ...end, sha256: verify.hex(sum) }) + '\n';
}

test('a file that was summed up anew is found by what it says of each event', async () => {
  const words = read('answer.ndjson'), untouched = await verify.answer(await forged(words, () => {}));
  assert.deepEqual([untouched.isWhole, untouched.broken.size], [false, 0]);
  const event = (lines) => lines.find((one) => one.type === 'event');
  const payload = await verify.answer(await forged(words, (lines) => { event(lines).payload = event(lines).payload.replace('두통', '복통'); }));
  assert.deepEqual([...payload.broken.values()].map((one) => one.code), ['path']);
  const path = await verify.answer(await forged(words, (lines) => { event(lines).proof.pop(); }));
  assert.deepEqual([...path.broken.values()].map((one) => one.code), ['path']);
  const moved = await verify.answer(await forged(words, (lines) => { event(lines).seq = 1; }));
  assert.deepEqual([...moved.broken.values()].map((one) => one.code), ['header']);
  const other = verify.hex(new Uint8Array(32).fill(1));
  for (const [change, code] of [
    [(lines) => { lines.find((one) => one.type === 'head').node = other; }, 'key'],
    [(lines) => { const head = lines.find((one) => one.type === 'head'); head.note = head.note.replace('\n5\n', '\n6\n'); head.size = 6; head.events = 6; }, 'signature'],
    [(lines) => { lines.find((one) => one.type === 'witness').key = lines[0].key; }, 'key'],
    [(lines) => { const one = lines.find((each) => each.type === 'cosigned'); one.proof.pop(); }, 'consistency'],
    [(lines) => { lines.splice(lines.indexOf(event(lines)), 1); }, 'form'],
  ]) await assert.rejects(forged(words, change).then(verify.answer), (error) => error instanceof verify.Broken && error.code === code, code);
});

test('paths of trees of every size up to 33 lead to the root, and to no other', async () => {
  const sha = async (...parts) => new Uint8Array(await crypto.subtle.digest('SHA-256', Buffer.concat(parts.map((part) => Buffer.from(part)))));
  const root = async (leaves) => {
    if (leaves.length === 1) return leaves[0];
    let half = 1;
    while (half * 2 < leaves.length) half *= 2;
    return sha([1], await root(leaves.slice(0, half)), await root(leaves.slice(half)));
  };
  const path = async (at, leaves) => {
    if (leaves.length === 1) return [];
    let half = 1;
    while (half * 2 < leaves.length) half *= 2;
    return at < half ? [...await path(at, leaves.slice(0, half)), await root(leaves.slice(half))] : [...await path(at - half, leaves.slice(half)), await root(leaves.slice(0, half))];
  };
  const part = async (old, leaves, isWhole = true) => {
    if (old === leaves.length) return isWhole ? [] : [await root(leaves)];
    let half = 1;
    while (half * 2 < leaves.length) half *= 2;
    return old <= half ? [...await part(old, leaves.slice(0, half), isWhole), await root(leaves.slice(half))] : [...await part(old - half, leaves.slice(half), false), await root(leaves.slice(0, half))];
  };
  const leaves = await Promise.all(Array.from({ length: 33 }, (_, at) => sha([0], [at])));
  for (let size = 1; size <= 33; size++) {
    const all = leaves.slice(0, size), top = await root(all);
    for (let at = 0; at < size; at++) {
      const way = await path(at, all);
      assert.equal(await verify.included(all[at], at, size, way, top), true);
      assert.equal(await verify.included(all[(at + 1) % size], at, size, way, top), size === 1);
      if (size > 1) assert.equal(await verify.included(all[at], (at + 1) % size, size, way, top), false);
      if (way.length) assert.equal(await verify.included(all[at], at, size, way.slice(1), top), false);
    }
    for (let old = 1; old <= size; old++) {
      const proof = await part(old, all), before = await root(leaves.slice(0, old));
      assert.equal(await verify.consistent(old, before, size, top, proof), true, `${old} of ${size}`);
      if (old < size) assert.equal(await verify.consistent(old, leaves[0].map((byte) => byte ^ 1), size, top, proof), false);
    }
  }
});

test('a row is proven only where everything that it shows is', async () => {
  const id = '0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f', origin = '1b4e28ba-2fa1-11d2-883f-0016d3cca427', node = 'ab'.repeat(32);
  const time = Date.parse('2026-08-01T02:00:00.000Z'), edit = '0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e60';
  const header = (over) => ({ id, origin, seq: 7, type: 'message.posted', user: 'kim', author: 'kim', conversation: 'c', time, ...over });
  const events = [
    [`${origin}/7`, { header: header(), payload: '{"text": "하나"}', hasBytes: true, head: { node } }],
    [`${origin}/8`, { header: header({ id: edit, type: 'message.edited', seq: 8 }), payload: `{"message":"${id}","text":"둘"}`, hasBytes: true, head: { node } }],
  ];
  const proven = { broken: new Map(), events: new Map(events), ids: new Map(events.map(([, one]) => [one.header.id, [one]])) };
  const shown = (over = {}) => { const made = line(over); made.event = { ...line().event, id, ...over.event }; return row(made); };
  assert.equal(verify.covers(proven, shown()), null);
  for (const [over, code] of [
    [{ event: { data: { text: '다른 글' } } }, 'payload'], [{ event: { user: 'lee' } }, 'header'], [{ event: { author: 'bot' } }, 'header'],
    [{ event: { time: '2026-08-01T02:00:01.000Z' } }, 'header'], [{ event: { subject: 'conversation/d' } }, 'header'], [{ event: { type: 'bot.replied' } }, 'header'],
    [{ event: { cause: edit } }, 'header'], [{ event: { sequence: '8' } }, 'header'], [{ event: { sequence: '9' } }, 'absent'], [{ event: { erased: true, data: undefined } }, 'payload'],
    [{ event: { id: 'none' } }, 'header'],
    [{ text: '셋', edits: [{ id: edit, author: 'kim', text: '셋', applied: true }] }, 'edit'],
    [{ text: '둘', edits: [{ id: 'none', author: 'kim', text: '둘', applied: true }] }, 'absent'],
    [{ edits: [{ id: edit, author: 'lee', text: '둘', applied: false }] }, 'edit'],
    [{ retracted: { id: edit, by: 'kim' } }, 'edit'],
  ]) assert.equal(verify.covers(proven, shown(over))?.code, code, JSON.stringify(over));
  assert.equal(verify.covers(proven, shown({ text: '둘', edits: [{ id: edit, author: 'kim', text: '둘', applied: true }] })), null);
});
