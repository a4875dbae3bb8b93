// Who has read what.
import { h, fill } from '../shared/dom.mjs';
import { excerpt } from '../shared/text.mjs';
import { cell, save } from './csv.mjs';
import { shown } from '../shared/prose.mjs';
import { paged } from './paged.mjs';
import './seldom.mjs';

export async function access(ctx) {
  const { t } = ctx, rows = [];
  ctx.title(t('nav.access'));
  ctx.commands('syncctl access', ctx.curl(['access'], {}));
  const csv = h('button', { type: 'button', onclick: () => save('access.csv', 'text/csv;charset=utf-8', [['time', 'actor', 'subject', 'users', 'reason'], ...rows.map((line) => [line.at, line.actor, line.subject, (line.users ?? []).join(' '), line.reason])]
    .map((cells) => cells.map(cell).join(',') + '\r\n').join('')) }, t('saveCSV'));
  const { box, ready } = paged(ctx, t('nav.access'), [t('time'), t('who'), t('what'), t('whom'), t('reason')], async (cursor) => {
    const page = await ctx.lines(['access'], { limit: 100, cursor });
    rows.push(...page.lines);
    return page;
  }, (line) => [
    h('th', { scope: 'row' }, ctx.time(line.at, 'long')), h('td', null, shown(excerpt(line.actor ?? '–', 60))), h('td', null, h('code', null, shown(excerpt(decoded(line.subject ?? '–'), 80)))),
    h('td', null, (line.users ?? []).length ? (line.users ?? []).slice(0, 5).map((user, at) => [at ? ', ' : '', shown(excerpt(user, 30))]) : t('many')), h('td', null, shown(excerpt(line.reason ?? '–', 200))),
  ], ctx.empty(t('noReads')));
  fill(ctx.body, ctx.head(t('nav.access'), csv), h('p', { class: 'help' }, t('accessHelp')), box);
  await ready;
}

function decoded(path) {
  try { return decodeURIComponent(path); } catch { return path; }
}
