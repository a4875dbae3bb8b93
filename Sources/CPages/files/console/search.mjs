// What was written, by the words in it.
import { h, fill, announce } from '../shared/dom.mjs';
import { excerpt } from '../shared/text.mjs';
import { shown } from '../shared/prose.mjs';
import { quoted } from './app.mjs';
import './seldom.mjs';

const most = 2_000;

export async function search(ctx) {
  const { t, query } = ctx, words = query.get('q') ?? '';
  ctx.title(t('nav.search'), words);
  const field = h('input', { type: 'search', id: 'q', name: 'q', value: words, autocomplete: 'off' });
  const choice = (name, options) => h('select', { id: name, name }, options.map(([value, label]) => h('option', { value, selected: (query.get(name) ?? '') === value }, label)));
  const role = choice('role', [['', t('role.any')], ['user', t('role.people')], ['assistant', t('role.bots')]]);
  const filters = ['conversation', 'user', 'author', 'since', 'until'].filter((name) => ctx.parameters('search').includes(name));
  const inputs = filters.map((name) => h('input', { type: name === 'since' || name === 'until' ? 'date' : 'text', id: name, name, value: (query.get(name) ?? '').slice(0, name === 'since' || name === 'until' ? 10 : undefined) }));
  const results = h('div', { class: 'results' });
  fill(ctx.body, ctx.head(t('nav.search')), h('form', { class: 'search', role: 'search', onsubmit: (event) => {
    event.preventDefault();
    const asked = { q: field.value.trim(), role: role.value };
    inputs.forEach((input, at) => { asked[filters[at]] = input.type === 'date' && input.value ? new Date(input.value + 'T00:00').toISOString() : input.value.trim(); });
    ctx.go(ctx.link(['search'], asked));
  } }, h('p', { class: 'main' }, h('label', { for: 'q' }, t('words')), field, h('button', { type: 'submit', class: 'main' }, t('find'))),
  h('details', { open: ['role', ...filters].some((name) => query.get(name)) }, h('summary', null, t('filters')), h('p', { class: 'filters' }, h('label', { for: 'role' }, t('role')), role, inputs.map((input, at) => [h('label', { for: input.id }, t(`filter.${filters[at]}`)), input]))),
  h('p', { class: 'help' }, t('searchHelp'))), results);
  if (!words) return field.focus();
  const asked = { q: words, role: query.get('role'), limit: 100, ...Object.fromEntries(filters.map((name) => [name, query.get(name)])) };
  ctx.commands(`syncctl search ${quoted(words)}`, ctx.curl(['search'], asked));
  const hits = [];
  let place = 0;
  const more = async (cursor) => {
    const page = await ctx.lines(['search'], { ...asked, cursor });
    hits.push(...page.lines);
    const next = hits.length < most ? page.end.next : null;
    fill(results, h('p', { class: 'count', role: 'status' }, page.end.next ? t('hitsSoFar', hits.length) : t('hitsAll', hits.length)), grouped(ctx, hits, words),
      next ? h('button', { type: 'button', class: 'more', onclick: (event) => more(next).catch((error) => { event.target.textContent = `${error.message} · ${t('retry')}`; }) }, t('more')) : page.end.next ? h('p', null, t('tooManyHits', most)) : null,
      hits.length || next ? null : ctx.empty(t('noHits')));
    if (next && !page.lines.length) return more(next);
    announce(page.end.next ? t('hitsSoFar', hits.length) : t('hitsAll', hits.length));
  };
  await more();
  const go = (by) => {
    const all = [...results.querySelectorAll('a.hit')];
    place = all.indexOf(document.activeElement) < 0 ? (by > 0 ? 0 : all.length - 1) : (all.indexOf(document.activeElement) + by + all.length) % all.length;
    all[place]?.focus();
  };
  ctx.keys = { n: () => go(1), N: () => go(-1) };
}

/** By conversation, in the order of their first hits. */
function grouped(ctx, hits, words) {
  const { t } = ctx, groups = new Map();
  for (const hit of hits) {
    const of = hit.event.subject?.startsWith('conversation/') ? hit.event.subject.slice(13) : null;
    groups.set(of, [...groups.get(of) ?? [], hit]);
  }
  return [...groups].map(([id, found]) => h('section', { class: 'group' },
    h('h2', null, id === null ? t('noConversation') : h('a', { href: ctx.link(['c', id], { q: words }) }, shown(excerpt(id, 80))), ' ', h('span', { class: 'aside' }, t('hits', found.length))),
    h('ol', null, found.map((hit) => h('li', null, h('a', { class: 'hit', href: id === null ? ctx.link(['u', hit.event.user], { at: hit.event.id }) : ctx.link(['c', id], { at: hit.event.id, q: words }) },
      h('span', { class: 'by' }, shown(excerpt(hit.event.author ?? hit.event.user, 40)), ' · ', ctx.time(hit.time, 'long'), hit.kind === 'message' || hit.kind === 'reply' ? null : [' · ', t(`kind.${hit.kind}`)], hit.edit ? [' · ', t('inEdit')] : null),
      h('span', { class: 'text' }, passage(hit.text, hit.ranges.map((one) => one.utf16)))))))));
}

/** What stands around the first hit, with all that is found in it marked. */
export function passage(text, ranges, around = 60) {
  const first = ranges[0]?.[0] ?? 0;
  let from = Math.max(0, first - around), to = Math.min(text.length, first + 4 * around);
  // Never between the two halves of a character.
  if (from > 0 && text.charCodeAt(from) >= 0xdc00 && text.charCodeAt(from) < 0xe000) from -= 1;
  if (to < text.length && text.charCodeAt(to) >= 0xdc00 && text.charCodeAt(to) < 0xe000) to += 1;
  const parts = [from ? '… ' : null];
  let at = from;
  for (const [start, end] of ranges) {
    if (start >= to || start < at) continue;
    parts.push(shown(text.slice(at, start)), h('mark', null, shown(text.slice(start, Math.min(end, to)))));
    at = Math.min(end, to);
  }
  parts.push(shown(text.slice(at, to)), to < text.length ? ' …' : null);
  return parts;
}
