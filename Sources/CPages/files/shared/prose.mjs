// What a text of a chat becomes in the document: text nodes, and links that say where they lead.
import { h } from './dom.mjs';
import { blocks, inline, visible } from './text.mjs';

/** A text as nodes: characters that are not seen are shown by their number. */
export function shown(text) {
  return visible(text).map((part) => part.text ?? h('span', { class: 'hidden' }, `␣${part.code}`));
}

/** Paragraphs, lists and code of a text; `ranges` of it are marked, `[from, to, isCurrent]`. */
export function prose(text, ranges = []) {
  const marked = (part) => {
    const cuts = [];
    let at = part.at;
    const end = part.at + part.text.length, piece = (to) => shown(part.text.slice(at - part.at, to - part.at));
    for (const [from, to, isCurrent] of ranges) {
      if (to <= at || from >= end) continue;
      cuts.push(piece(Math.max(from, at)));
      at = Math.max(from, at);
      cuts.push(h('mark', { class: isCurrent ? 'current' : null }, piece(Math.min(to, end))));
      at = Math.min(to, end);
    }
    cuts.push(piece(end));
    return cuts;
  };
  const line = (one) => inline(one).map((part) => part.bold ? h('strong', null, marked(part))
    : part.href ? h('a', { href: part.href, rel: 'noreferrer noopener', target: '_blank' }, marked(part)) : marked(part));
  return blocks(text).map(({ kind, lines }) => {
    if (kind === 'code') return h('pre', { tabindex: 0 }, h('code', null, lines.map((one, at) => [at ? '\n' : null, marked(one)])));
    if (kind === 'numbers') return h('ol', null, lines.map((one) => h('li', { value: one.number }, line(one))));
    if (kind === 'points') return h('ul', null, lines.map((one) => h('li', null, line(one))));
    return h('p', null, lines.map((one, at) => [at ? h('br') : null, line(one)]));
  });
}
