// Subscriptions: how far their workers are, and what they gave up.
import { h, fill, announce } from '../shared/dom.mjs';
import { excerpt } from '../shared/text.mjs';
import { shown } from '../shared/prose.mjs';
import { quoted } from './app.mjs';
import './seldom.mjs';

export async function subscriptions(ctx) {
  const { t } = ctx, box = h('div');
  ctx.title(t('nav.subscriptions'));
  ctx.commands('syncctl subscriptions', ctx.curl(['subscriptions'], {}));
  fill(ctx.body, ctx.head(t('nav.subscriptions')), box);
  let last = '';
  await ctx.every(5_000, async () => {
    const found = await ctx.lines(['subscriptions']), drawn = JSON.stringify(found.lines);
    if (drawn === last) return;
    last = drawn;
    const number = (value) => h('td', { class: 'number' }, value === undefined ? '–' : ctx.number(value));
    const node = (id) => id === ctx.me.node ? ctx.node.name : (ctx.node.peers ?? []).find((one) => one.node === id)?.name ?? id.slice(0, 8);
    fill(box, found.lines.length ? h('table', { class: 'list' }, h('caption', { class: 'unseen' }, t('nav.subscriptions')), h('thead', null, h('tr', null,
      [t('name'), t('home'), t('owner')].map((head) => h('th', { scope: 'col' }, head)), [t('open.events'), t('inFlight'), t('behindHead'), t('workers'), t('parked')].map((head) => h('th', { scope: 'col', class: 'number' }, head)))),
    h('tbody', null, found.lines.map((one) => h('tr', null, h('th', { scope: 'row' }, h('a', { href: ctx.link(['subscriptions', one.name]) }, one.name)), h('td', null, excerpt(node(one.home), 30)), h('td', null, shown(excerpt(one.owner ?? '–', 40))),
      number(one.open), number(one.in_flight), number(one.behind), number(one.workers), h('td', { class: 'number' }, one.parked ? h('strong', { class: 'warn' }, '⚠ ', ctx.number(one.parked)) : one.parked === undefined ? '–' : '0'))))) : ctx.empty(t('noSubscriptions'), 'syncctl subscriptions create NAME'));
  });
}

export async function subscription(ctx) {
  const [name] = ctx.args, { t } = ctx;
  ctx.title(name);
  ctx.commands(`syncctl subscriptions parked ${quoted(name)}`, `syncctl subscriptions retry ${quoted(name)} EVENT`, ctx.curl(['subscriptions', name, 'parked'], {}));
  const [one, parked] = await Promise.all([ctx.object(['subscriptions', name]), ctx.lines(['subscriptions', name, 'parked'])]);
  const problem = h('p', { role: 'alert', class: 'problem' });
  const again = async (events) => {
    fill(problem);
    try { await ctx.post(['subscriptions', name, 'retry'], { events }); } catch (error) { return fill(problem, error.message); }
    announce(t('redelivered', events.length));
    await subscription(ctx);
  };
  const may = ctx.can('retryParked'), most = 1_000;
  fill(ctx.body, ctx.head(shown(excerpt(name, 80))), h('details', null, h('summary', null, t('definition')), h('pre', { class: 'data', tabindex: 0 }, shown(JSON.stringify(one.definition, null, 1)))),
    h('h2', null, t('parkedEvents', parked.lines.length)), problem, may && parked.lines.length > 1 ? h('p', null, h('button', { type: 'button', onclick: () => again(parked.lines.slice(0, most).map((line) => line.event)) }, t('redeliverAll', Math.min(most, parked.lines.length)))) : null,
    parked.lines.length ? h('table', { class: 'list' }, h('caption', { class: 'unseen' }, t('parked')), h('thead', null, h('tr', null, [t('time'), t('event'), t('attempts'), t('reason'), may ? t('action') : null].filter(Boolean).map((head) => h('th', { scope: 'col' }, head)))),
      h('tbody', null, parked.lines.slice(0, most).map((line) => h('tr', null, h('th', { scope: 'row' }, ctx.time(line.at, 'long')), h('td', null, h('code', null, line.event)), h('td', null, ctx.number(line.attempts)),
        h('td', null, shown(excerpt(line.reason ?? '', 200)), line.error ? h('p', { class: 'note' }, shown(excerpt(line.error, 300))) : null),
        may ? h('td', null, h('button', { type: 'button', onclick: () => again([line.event]) }, t('redeliver'))) : null)))) : ctx.empty(t('nothingParked')));
}
