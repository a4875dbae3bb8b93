// Checks proofs and receipts (FORMATS.md, sections 2, 9 and 10) with the browser's own SHA-256 and Ed25519. No document, no network:
// what this says was computed here, of bytes that came, and of nothing that the server claims of them.

/** Why something is not proven: `code` names the sentence for people, `event` the event, if it is one. */
export class Broken extends Error {
  constructor(code, event, detail) {
    super(detail ? `${code}: ${detail}` : code);
    Object.assign(this, { name: 'Broken', code, event });
  }
}

const utf8 = new TextEncoder();
const text = new TextDecoder('utf-8', { fatal: true });

export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
export function fromHex(word) {
  if (typeof word !== 'string' || !/^([0-9a-f]{2})*$/.test(word)) throw new Broken('form');
  return Uint8Array.from(word.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}
export function fromBase64(word) {
  try { return Uint8Array.from(atob(word), (letter) => letter.charCodeAt(0)); } catch { throw new Broken('form'); }
}
function join(...parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) { all.set(part, at); at += part.length; }
  return all;
}
const equal = (a, b) => a.length === b.length && a.every((byte, at) => byte === b[at]);
const sha = async (...parts) => new Uint8Array(await crypto.subtle.digest('SHA-256', join(...parts)));

/** Whether this browser can check at all; else why not. */
export async function obstacle() {
  if (!globalThis.crypto?.subtle) return 'insecure';
  try {
    await crypto.subtle.importKey('raw', new Uint8Array(32).fill(1), 'Ed25519', false, ['verify']);
    return null;
  } catch { return 'noEd25519'; }
}

async function isSigned(key, message, signature) {
  const imported = await crypto.subtle.importKey('raw', key, 'Ed25519', false, ['verify']);
  return crypto.subtle.verify('Ed25519', imported, signature, message);
}

// The DER that stands before the 32 bytes of an Ed25519 key (RFC 8410).
const spki = fromHex('302a300506032b6570032100');

/** The id of the node that has a key. */
export const nodeOf = async (key) => hex(await sha(spki, key));

/** The body of a checkpoint and its signatures: `{ body, origin, size, root, hlc, signatures: [{ node, bytes }] }`. */
export function note(words) {
  const found = /^(sillok\/([0-9a-f-]{36})\n(\d{1,14})\n([A-Za-z0-9+/]{43}=)\nhlc ([0-9a-f]{12}-[0-9a-f]{4})\n)\n((?:— [0-9a-f]{64} [A-Za-z0-9+/]+=*\n)+)$/.exec(words);
  if (!found) throw new Broken('form');
  const signatures = found[6].split('\n').filter(Boolean).map((line) => {
    const [, node, bytes] = line.split(' ');
    return { node, bytes: fromBase64(bytes) };
  });
  return { body: found[1], origin: found[2], size: Number(found[3]), root: fromBase64(found[4]), hlc: found[5], signatures };
}

/** Walks from a leaf up to the root (RFC 9162, 2.1.3.2). */
export async function included(leaf, index, size, path, root) {
  if (index < 0 || index >= size) return false;
  let at = index, last = size - 1, hash = leaf;
  for (const part of path) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      hash = await sha([1], part, hash);
      while (at % 2 === 0 && at !== 0) { at = Math.floor(at / 2); last = Math.floor(last / 2); }
    } else hash = await sha([1], hash, part);
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && equal(hash, root);
}

/** Whether the tree of `size` goes on from that of `old` (RFC 9162, 2.1.4.2). */
export async function consistent(old, oldRoot, size, root, proof) {
  if (old === size) return proof.length === 0 && equal(oldRoot, root);
  if (old <= 0 || old > size || proof.length === 0) return false;
  const path = Number.isInteger(Math.log2(old)) ? [oldRoot, ...proof] : [...proof];
  let at = old - 1, last = size - 1;
  while (at % 2 === 1) { at = Math.floor(at / 2); last = Math.floor(last / 2); }
  let first = path[0], second = path[0];
  for (const part of path.slice(1)) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      first = await sha([1], part, first);
      second = await sha([1], part, second);
      while (at % 2 === 0 && at !== 0) { at = Math.floor(at / 2); last = Math.floor(last / 2); }
    } else second = await sha([1], second, part);
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && equal(first, oldRoot) && equal(second, root);
}

const uuid = (bytes) => hex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** The fields of a canonical header that a page shows; `null` where it is not canonical. */
export function header(bytes) {
  const found = { version: 1 };
  let at = 0;
  const varint = () => {
    let value = 0n, shift = 0n;
    for (;;) {
      const byte = bytes[at++];
      if (byte === undefined || shift > 63n) throw new Broken('form');
      value |= BigInt(byte & 127) << shift;
      shift += 7n;
      if (byte < 128) return value;
    }
  };
  const take = () => {
    const count = Number(varint());
    if (count > bytes.length - at) throw new Broken('form');
    return bytes.subarray(at, at += count);
  };
  try {
    let last = 0;
    while (at < bytes.length) {
      const tag = Number(varint()), field = Math.floor(tag / 8);
      if (field < last || field === last && field !== 11 && field < 13) return null;
      last = field;
      switch (tag) {
        case 0x0a: found.origin = uuid(take()); break;
        case 0x10: found.seq = Number(varint()); break;
        case 0x19: {
          const part = bytes.subarray(at, at += 8);
          if (part.length < 8) return null;
          found.hlc = new DataView(part.buffer, part.byteOffset, 8).getBigUint64(0, true);
          break;
        }
        case 0x20: { const value = varint(); found.time = Number(value & 1n ? -(value >> 1n) - 1n : value >> 1n); break; }
        case 0x2a: found.id = uuid(take()); break;
        case 0x32: found.type = text.decode(take()); break;
        case 0x3a: found.conversation = text.decode(take()); break;
        case 0x42: found.user = text.decode(take()); break;
        case 0x4a: found.author = text.decode(take()); break;
        case 0x52: found.cause = uuid(take()); break;
        case 0x60: found.version = Number(varint()); break;
        default:
          if (field > 12 && field < 32) found.isCritical = true;
          if (tag % 8 === 0) varint();
          else if (tag % 8 === 1) at += 8;
          else if (tag % 8 === 2) take();
          else if (tag % 8 === 5) at += 4;
          else return null;
      }
    }
  } catch { return null; }
  if (found.hlc === undefined || !found.origin || !found.seq || !found.id || !found.type || !found.user) return null;
  found.time ??= Number(found.hlc >> 16n);
  found.author ??= found.user;
  return found;
}

/** Lines of a file whose last one sums the others up. */
async function file(words, first) {
  if (!words.endsWith('\n')) throw new Broken('cut');
  const lines = words.slice(0, -1).split('\n');
  let parsed;
  try { parsed = lines.map((line) => JSON.parse(line)); } catch { throw new Broken('form'); }
  const begin = parsed[0], end = parsed.at(-1);
  if (begin?.type !== first || begin.v !== 1) throw new Broken('form');
  if (end?.type !== 'end' || parsed.length < 2) throw new Broken('cut');
  const body = utf8.encode(lines.slice(0, -1).join('\n') + '\n');
  if (hex(await sha(body)) !== end.sha256) throw new Broken('sum');
  const key = fromBase64(begin.key);
  if (await nodeOf(key) !== begin.node) throw new Broken('key');
  let isWhole = false;
  if (end.signature !== undefined) {
    isWhole = await isSigned(key, utf8.encode(`sillok ${first} v1\n${end.sha256}\n`), fromBase64(end.signature));
    if (!isWhole) throw new Broken('signature');
  }
  return { begin, end, lines: parsed.slice(1, -1), isWhole };
}

/** Heads and cosignatures of a file: by origin `{ origin, node, events, size, root, hlc, arrived, witnesses: [{ node, size, time }] }`. */
async function heads(lines) {
  const witnesses = new Map(), found = new Map();
  for (const line of lines) {
    if (line.type === 'witness') {
      const key = fromBase64(line.key);
      if (await nodeOf(key) !== line.node) throw new Broken('key');
      witnesses.set(line.node, key);
    } else if (line.type === 'head') {
      const key = fromBase64(line.key), signed = note(line.note);
      if (await nodeOf(key) !== line.node) throw new Broken('key');
      if (signed.origin !== line.origin || signed.size !== line.size || signed.size > line.events) throw new Broken('head');
      await owner(line.node, key, signed);
      const head = { ...signed, node: line.node, key, events: line.events, arrived: line.arrived, witnesses: [] };
      for (const one of signed.signatures.slice(1)) head.witnesses.push(await witness(one, signed, witnesses, line.node));
      found.set(line.origin, head);
    } else if (line.type === 'cosigned') {
      const head = found.get(line.origin), signed = note(line.note);
      if (!head || signed.origin !== line.origin || signed.size !== line.size || signed.signatures.length !== 2) throw new Broken('head');
      await owner(head.node, head.key, signed);
      const proof = line.proof.map(fromHex), [a, b] = signed.size < head.size ? [signed, head] : [head, signed];
      if (!await consistent(a.size, a.root, b.size, b.root, proof)) throw new Broken('consistency');
      head.witnesses.push(await witness(signed.signatures[1], signed, witnesses, head.node));
    }
  }
  return found;
}

/** The first signature of a note is that of the origin's node. */
async function owner(node, key, signed) {
  const [first] = signed.signatures;
  if (first.node !== node || first.bytes.length !== 68) throw new Broken('head');
  if (!await isSigned(key, utf8.encode(signed.body), first.bytes.subarray(4))) throw new Broken('signature');
}

async function witness(one, signed, witnesses, own) {
  const key = witnesses.get(one.node);
  if (!key || one.node === own || one.bytes.length !== 76) throw new Broken('witness');
  const time = Number(new DataView(one.bytes.buffer, one.bytes.byteOffset + 4, 8).getBigUint64(0));
  const message = utf8.encode(`cosignature/v1\ntime ${time}\n${signed.body}`);
  if (!await isSigned(key, message, one.bytes.subarray(12))) throw new Broken('witness');
  return { node: one.node, size: signed.size, time };
}

/** A receipt: who made it, and the heads in it. */
export async function receipt(words) {
  const { begin, end, lines, isWhole } = await file(words, 'receipt');
  const found = await heads(lines);
  if (found.size !== end.count || found.size !== begin.origins) throw new Broken('form');
  return { maker: begin, heads: [...found.values()], isWhole };
}

/**
 * A proven answer: `{ maker, heads, events, ids, broken, isWhole }`. `events` has by dot (`<origin>/<seq>`) what is proven of each: header, payload,
 * head; `ids` by id the proven events that have it. `broken` has by dot why an event is not. What spoils the file as a whole is thrown.
 */
export async function answer(words) {
  const { begin, end, lines, isWhole } = await file(words, 'answer');
  const found = await heads(lines), events = new Map(), ids = new Map(), broken = new Map();
  let count = 0;
  for (const line of lines) {
    if (line.type !== 'event') continue;
    count += 1;
    const bytes = fromBase64(line.header), head = header(bytes), id = `${line.origin}/${line.seq}`;
    const tree = found.get(line.origin);
    try {
      if (!tree) throw new Broken('head', id);
      if (head && (head.origin !== line.origin || head.seq !== line.seq)) throw new Broken('header', id);
      const body = line.payload !== undefined ? utf8.encode(line.payload) : line.payload_base64 !== undefined ? fromBase64(line.payload_base64) : null;
      const digest = body ? await sha(fromHex(line.salt), body) : fromHex(line.digest);
      const leaf = await sha([0], bytes, digest);
      if (!await included(leaf, line.seq - 1, tree.size, line.proof.map(fromHex), tree.root)) throw new Broken('path', id);
      if (!head) continue;
      events.set(id, { header: head, payload: line.payload ?? null, hasBytes: body !== null, head: tree, line });
      ids.set(head.id, [...ids.get(head.id) ?? [], events.get(id)]);
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      broken.set(id, error);
    }
  }
  if (count !== end.count || count !== begin.events) throw new Broken('form');
  return { maker: begin, heads: [...found.values()], events, ids, broken, isWhole };
}

/** Two values of JSON, whatever the order of members. */
export function same(a, b) {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
}

/**
 * Whether what a page shows of a row follows from proven events: null, or why not. `row` is of rows.mjs.
 */
export function covers(proven, row) {
  const own = proven.events.get(row.key);
  if (!own) return proven.broken.get(row.key) ?? new Broken('absent', row.id);
  const head = own.header, event = row.event;
  const isSame = head.id === row.id && head.type === row.type && head.user === row.user && head.author === row.author && (head.conversation ?? null) === row.conversation
    && head.time === Date.parse(row.time) && (head.cause ?? null) === row.cause && head.seq === row.sequence && head.origin === row.origin
    && own.head.node === row.node;
  if (!isSame) return new Broken('header', row.id);
  if (row.isErased) return own.payload === null ? null : new Broken('payload', row.id);
  if (own.payload === null) return own.hasBytes && event.data === undefined ? null : new Broken('payload', row.id);
  let data;
  try { data = JSON.parse(own.payload); } catch { return new Broken('payload', row.id); }
  if (!same(data, event.data)) return new Broken('payload', row.id);
  // Edits: each is an event of its own, and its author's. What stands as the message is what its author last wrote.
  for (const edit of [...row.edits, ...row.corrections]) {
    const error = amended(proven, edit.id, row, 'message.edited', (of) => of.header.author === edit.author && of.data.text === edit.text);
    if (error) return error;
  }
  for (const taken of [row.retracted, ...row.retractions].filter(Boolean)) {
    const error = amended(proven, taken.id, row, 'message.retracted', (of) => of.header.author === taken.by);
    if (error) return error;
  }
  const stands = row.edits.length ? row.edits.at(-1).text : row.first;
  return row.isMessage && row.text !== stands && !row.moreAmendments ? new Broken('edit', row.id) : null;
}

/** Whether one of the proven events with this id amends the row so: null, or why not. */
function amended(proven, id, row, type, isWanted) {
  const all = proven.ids.get(id);
  if (!all) return new Broken('absent', id);
  const isThere = all.some((one) => {
    let data = null;
    try { data = JSON.parse(one.payload); } catch { return false; }
    if (!data) return false;
    const of = typeof data.message === 'string' ? data.message.toLowerCase() : one.header.cause;
    return one.header.type === type && of === row.id && (one.header.conversation ?? null) === row.conversation && isWanted({ header: one.header, data });
  });
  return isThere ? null : new Broken('edit', id);
}
