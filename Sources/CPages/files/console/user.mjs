// A user: what the profile says, and the history.
import { h, fill } from '../shared/dom.mjs';
import { excerpt, plain } from '../shared/text.mjs';
import { shown } from '../shared/prose.mjs';
import { quoted } from './app.mjs';
import { TimelineView } from './conversation.mjs';
import { paged } from './paged.mjs';
import './seldom.mjs';

/** A value of a profile. */
const value = (of) => shown(excerpt(typeof of === 'string' ? of : JSON.stringify(of), 200));

export async function user(ctx) {
  const [id] = ctx.args, { t, query } = ctx, tab = query.get('tab') ?? 'history';
  ctx.title(id);
  ctx.commands(`syncctl profile ${quoted(id)}`, `syncctl history ${quoted(id)} --full`, ctx.curl(['users', id, 'history'], { order: 'oldest' }));
  let fields = [];
  try { fields = (await ctx.lines(['users', id], { limit: 200 })).lines; } catch (error) { if (error.status !== 404) throw error; }
  const tabs = [['history', t('tab.history')], ['said', t('tab.said')], ctx.can('listReaders') ? ['readers', t('tab.readers')] : null].filter(Boolean);
  fill(ctx.body, ctx.head(shown(excerpt(id, 120))), profile(ctx, fields),
    h('nav', { class: 'tabs', 'aria-label': t('parts') }, tabs.map(([name, words]) => h('a', { href: ctx.link(['u', id], { tab: name }), 'aria-current': name === tab ? 'true' : null }, words))));
  if (tab === 'readers') return readers(ctx, id);
  const view = new TimelineView(ctx, {
    parts: ['users', id, 'history'], scope: { user: id }, filters: tab === 'said' ? { author: id } : {},
    drawMore: (node, row, before) => { if (row.conversation !== null && row.conversation !== before?.conversation) node.querySelector('.margin')?.append(h('p', { class: 'note' }, h('a', { href: ctx.link(['c', row.conversation], { at: row.id }) }, excerpt(plain(row.conversation), 40)))); },
  });
  await view.show();
}

function profile(ctx, fields) {
  const { t } = ctx;
  if (!fields.length) return h('p', { class: 'facts' }, t('noProfile'));
  return h('table', { class: 'list profile' }, h('caption', null, t('profile')), h('thead', null, h('tr', null, [t('field'), t('value'), t('saidBy'), t('since')].map((head) => h('th', { scope: 'col' }, head)))),
    h('tbody', null, fields.map((one) => h('tr', { class: one.conflict ? 'conflict' : null }, h('th', { scope: 'row' }, shown(excerpt(one.name, 60))),
      h('td', null, value(one.value), one.concurrent.filter((other) => one.conflict && JSON.stringify(other.value) !== JSON.stringify(one.value)).map((other) =>
        h('p', { class: 'note changed' }, t('conflictWith', excerpt(other.author, 30)), ' ', value(other.value)))),
      h('td', null, shown(excerpt(one.author, 40))), h('td', null, ctx.time(one.time, 'short'))))));
}

async function readers(ctx, id) {
  const { t } = ctx;
  const { box, ready } = paged(ctx, t('tab.readers'), [t('time'), t('who'), t('what'), t('reason')], (cursor) => ctx.lines(['users', id, 'readers'], { limit: 100, cursor }), (line) => [
    h('th', { scope: 'row' }, ctx.time(line.at, 'long')), h('td', null, shown(excerpt(line.actor ?? '–', 60))), h('td', null, line.lost ? t('lostRead') : h('code', null, shown(excerpt(line.subject ?? '–', 80)))), h('td', null, shown(excerpt(line.reason ?? '–', 200))),
  ], ctx.empty(t('noReaders')));
  ctx.body.append(box);
  await ready;
}
