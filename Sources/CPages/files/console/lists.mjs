// Conversations and users, as lists.
import { h, fill } from '../shared/dom.mjs';
import { excerpt } from '../shared/text.mjs';
import { shown } from '../shared/prose.mjs';
import { quoted } from './app.mjs';
import { paged } from './paged.mjs';
import './seldom.mjs';

/** A field that leads somewhere. */
function goBox(ctx, label, action, name, value = null) {
  const field = h('input', { type: 'search', id: name, value, autocomplete: 'off', spellcheck: 'false' });
  return h('form', { class: 'go', role: 'search', onsubmit: (event) => { event.preventDefault(); if (field.value.trim() || value) action(field.value.trim()); } },
    h('label', { for: name }, label), field, h('button', { type: 'submit' }, value === null ? ctx.t('open') : ctx.t('find')));
}

export async function conversations(ctx) {
  const { t, query } = ctx, match = query.get('q') ?? '';
  ctx.title(t('nav.conversations'), match);
  ctx.commands(`syncctl conversations${match ? ` --match ${quoted(match)}` : ''}`, ctx.curl(['conversations'], { match }));
  const { box, ready } = paged(ctx, t('nav.conversations'), [t('conversation'), t('startedBy'), { text: t('messagesHead'), isNumber: true }, t('lastTime')],
    (cursor) => ctx.lines(['conversations'], { match, limit: 100, cursor }), (line) => [
      h('th', { scope: 'row' }, h('a', { href: ctx.link(['c', line.conversation]) }, shown(excerpt(line.title ?? line.conversation, 80))), ' ', h('code', { class: 'aside' }, shown(excerpt(line.conversation, 40)))),
      h('td', null, line.started_by ? h('a', { href: ctx.link(['u', line.started_by]) }, shown(excerpt(line.started_by, 40))) : '–'),
      h('td', { class: 'number' }, ctx.number(line.messages)), h('td', null, ctx.time(line.last_time, 'short')),
    ], match ? ctx.empty(t('noSuchTitle')) : ctx.empty(t('noConversations'), 'syncctl import FILE'));
  fill(ctx.body, ctx.head(t('nav.conversations')), h('div', { class: 'goes' },
    goBox(ctx, t('findTitle'), (words) => ctx.go(ctx.link(['conversations'], { q: words })), 'match', match),
    goBox(ctx, t('openConversation'), (id) => ctx.go(ctx.link(['c', id])), 'go-c'), goBox(ctx, t('openUser'), (id) => ctx.go(ctx.link(['u', id])), 'go-u')), box);
  await ready;
}

export async function users(ctx) {
  const { t, query } = ctx, words = query.get('q') ?? '';
  ctx.title(t('nav.users'));
  ctx.commands(ctx.curl(['users'], { match: words }));
  const name = ['match', 'q'].find((one) => ctx.parameters('listUsers').includes(one));
  const field = h('input', { type: 'search', id: 'match', value: words, autocomplete: 'off' });
  fill(ctx.body, ctx.head(t('nav.users')), h('form', { class: 'go', role: 'search', onsubmit: (event) => { event.preventDefault(); ctx.go(ctx.link(['users'], { q: field.value.trim() })); } },
    h('label', { for: 'match' }, t('findUser')), field, h('button', { type: 'submit' }, t('find'))));
  if (!words) return field.focus();
  const { box, ready } = paged(ctx, t('nav.users'), [t('user'), t('name')], (cursor) => ctx.lines(['users'], { [name]: words, limit: 50, cursor }), (line) => [
    h('th', { scope: 'row' }, h('a', { href: ctx.link(['u', line.user]) }, shown(excerpt(line.user, 60)))), h('td', null, line.name ? shown(excerpt(String(line.name), 60)) : '–'),
  ], ctx.empty(t('noUsers')));
  ctx.body.append(box);
  await ready;
}
