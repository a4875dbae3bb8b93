// What a text of a chat becomes on a page: pure, without a document.

// Controls, marks that turn the direction of writing, invisible blanks and tags: shown by their number. Tab and line ends stay.
const hidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Parts of a text: `{ text }` as it is, `{ code }` for a character that must be seen to be noticed. */
export function visible(text) {
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(hidden)) {
    if (found.index > at) parts.push({ text: text.slice(at, found.index) });
    parts.push({ code: found[0].codePointAt(0).toString(16).padStart(4, '0') });
    at = found.index + found[0].length;
  }
  if (at < text.length) parts.push({ text: text.slice(at) });
  return parts;
}

/** The same as one text. */
export function plain(text) {
  return visible(String(text)).map((part) => part.text ?? `␣${part.code}`).join('');
}

/** One line of at most so many characters. */
export function excerpt(text, most = 80) {
  const line = plain(String(text).slice(0, most * 4)).replace(/\s+/gu, ' ').trim();
  const points = [...line];
  return points.length > most ? points.slice(0, most - 1).join('') + '…' : line;
}

/** Paragraphs, lists and fenced code of a text, with the place of each line in it: `{ kind, lines: [{ at, text }] }`. */
export function blocks(text) {
  const found = [];
  let open = null, fence = false, at = 0;
  const put = (kind, line) => {
    if (open?.kind !== kind) found.push(open = { kind, lines: [] });
    open.lines.push(line);
  };
  for (const raw of text.split('\n')) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    const place = at;
    at += raw.length + 1;
    if (/^\s*```/u.test(line)) {
      fence = !fence;
      open = null;
      if (fence) found.push(open = { kind: 'code', lines: [] });
      continue;
    }
    if (fence) { put('code', { at: place, text: line }); continue; }
    const item = /^ {0,3}(?:(\d{1,3})[.)]|[-*•]) +(?=\S)/u.exec(line);
    if (item) put(item[1] ? 'numbers' : 'points', { at: place + item[0].length, text: line.slice(item[0].length), number: item[1] });
    else if (line.trim() === '') open = null;
    else put('lines', { at: place, text: line });
  }
  return found;
}

/** Parts of a line: `{ at, text }`, with `bold`, or with `href` of a link that is https and says where it leads. */
export function inline(line) {
  const parts = [];
  let at = 0;
  const put = (to, more) => { if (to > at) parts.push({ at: line.at + at, text: line.text.slice(at, to), ...more }); at = to; };
  for (const found of line.text.matchAll(/\*\*(?=\S)([^*]{0,400}?\S)\*\*|https:\/\/[^\s<>"'`\\\u0000-\u001f]{1,1000}/gu)) {
    put(found.index);
    if (found[1] !== undefined) {
      at += 2;
      put(at + found[1].length, { bold: true });
      at += 2;
    } else {
      const text = found[0].replace(/[).,;:!?\]}]+$/u, '');
      let url = null;
      try { url = new URL(text); } catch { /* no link, then */ }
      put(found.index + text.length, url && url.host && !url.username ? { href: url.href } : {});
    }
  }
  put(line.text.length);
  return parts;
}

/** A language of a text for `lang`, where its letters tell. */
export function language(text) {
  const sample = text.slice(0, 400);
  if (/[\uac00-\ud7a3\u1100-\u11ff\u3131-\u318e]/u.test(sample)) return 'ko';
  return /[A-Za-z]{3}/u.test(sample) && !/[^\u0000-\u024f\u2000-\u2bff\s]/u.test(sample) ? 'en' : null;
}
