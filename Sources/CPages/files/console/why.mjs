// What led to an event, and what followed from it: a tree, walked with the arrow keys.
import { h, fill } from '../shared/dom.mjs';
import { excerpt } from '../shared/text.mjs';
import { row as rowOf } from '../shared/rows.mjs';
import { shown } from '../shared/prose.mjs';
import './seldom.mjs';

export async function why(ctx) {
  const [id] = ctx.args, { t } = ctx;
  ctx.title(t('nav.why'));
  ctx.commands(`syncctl why ${id}`, ctx.curl(['events', id, 'why'], {}));
  const { lines, end } = await ctx.lines(['events', id, 'why'], { limit: 200 });
  const all = new Map(lines.map((line) => [line.id, { line, children: [] }]));
  // What led to it hangs above it: the farthest of those begins the tree.
  const tops = [];
  for (const one of all.values()) {
    const above = all.get(one.line.parent);
    if (above && !holds(one, above)) above.children.push(one);
    else tops.push(one);
  }
  const root = h('ul', { role: 'tree', 'aria-label': t('nav.why'), class: 'tree' });
  const items = [];
  const draw = (one, level) => {
    const group = one.children.map((child) => draw(child, level + 1));
    const item = h('li', {
      role: 'treeitem', tabindex: -1, 'aria-level': level, 'aria-expanded': group.length ? 'true' : null, 'aria-current': one.line.id === id ? 'true' : null, 'data-id': one.line.id,
    }, node(ctx, one.line, one.line.id === id), group.length ? h('ul', { role: 'group' }, group) : null);
    return item;
  };
  fill(root, tops.map((one) => draw(one, 1)));
  fill(ctx.body, ctx.head(t('nav.why')), h('p', { class: 'help' }, t('whyHelp')), root, end.whole === false ? h('p', null, t('whyCut')) : null);
  items.push(...root.querySelectorAll('[role=treeitem]'));
  const first = items.find((item) => item.dataset.id === id) ?? items[0];
  if (first) first.tabIndex = 0;
  root.addEventListener('keydown', (event) => walk(root, event));
  if (first) { ctx.keepsFocus = true; first.focus(); }
}

/** Whether one stands below the other already: no circle is drawn, whatever the node says. */
function holds(one, other) {
  return one === other || one.children.some((child) => holds(child, other));
}

function node(ctx, line, isAsked) {
  const { t } = ctx;
  if (!line.event) return h('span', { class: 'node gone' }, t(`why.${line.state === 'pending' ? 'pending' : 'hidden'}`), ' ', h('code', null, line.id.slice(0, 8)));
  const row = rowOf(line), words = row.isErased ? t('erased') : row.retracted ? t('retracted') : row.text ?? JSON.stringify(row.event.data ?? {});
  const place = row.conversation === null ? ctx.link(['u', row.user], { at: row.id }) : ctx.link(['c', row.conversation], { at: row.id });
  return h('span', { class: `node${isAsked ? ' asked' : ''}` },
    h('span', { class: 'by' }, line.relation ? [h('span', { class: 'badge' }, t(`relation.${['cause', 'amends', 'configuration'].includes(line.relation) ? line.relation : 'cause'}`)), ' '] : null,
      shown(excerpt(row.type, 40)), ' · ', shown(excerpt(row.author, 40)), ' · ', ctx.time(row.time, 'long')),
    h('span', { class: 'text' }, shown(excerpt(words, 160))), h('a', { href: place, tabindex: -1 }, t('inPlace')),
    (line.quarantined ?? []).length ? h('span', { class: 'note' }, '⚠ ', t('nav.quarantine'), ': ', shown(excerpt(line.quarantined.map((one) => one.reason).join('; '), 120))) : null,
    line.cut ? h('a', { href: ctx.link(['why', line.id]), tabindex: -1 }, t('goOnHere')) : null);
}

/** Arrows, Home, End and Enter, as the pattern of a tree has them (W3C APG). */
function walk(root, event) {
  const here = document.activeElement.closest('[role=treeitem]');
  if (!here || event.target !== here) return;
  const seen = [...root.querySelectorAll('[role=treeitem]')].filter((item) => !item.parentElement.closest('[aria-expanded=false]'));
  const at = seen.indexOf(here), isOpen = here.getAttribute('aria-expanded');
  const to = {
    ArrowDown: () => seen[at + 1], ArrowUp: () => seen[at - 1], Home: () => seen[0], End: () => seen.at(-1),
    ArrowRight: () => isOpen === 'false' ? open(here, true) : isOpen === 'true' ? seen[at + 1] : null,
    ArrowLeft: () => isOpen === 'true' ? open(here, false) : here.parentElement.closest('[role=treeitem]'),
    Enter: () => { here.querySelector('a')?.click(); },
  }[event.key];
  if (!to) return;
  event.preventDefault();
  const next = to();
  if (!next) return;
  here.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function open(item, isOpen) { item.setAttribute('aria-expanded', String(isOpen)); }
