// Conversations and users.
import { h, fill } from '../shared/dom.mjs';
import { excerpt, plain } from '../shared/text.mjs';
import { shown } from '../shared/prose.mjs';
import { TimelineView } from './conversation.mjs';
import { quoted } from './app.mjs';

/** A table that grows by pages. `draw(line)` makes the cells. */
export function paged(ctx, caption, heads, load, draw, nothing) {
  const { t } = ctx, body = h('tbody');
  const table = h('table', { class: 'list' }, h('caption', { class: 'unseen' }, caption), h('thead', null, h('tr', null, heads.map((head) =>
    h('th', { scope: 'col', class: head.isNumber ? 'number' : null }, head.text ?? head)))), body);
  const button = h('button', { type: 'button', class: 'more', hidden: true });
  const box = h('div', { class: 'paged' }, table, button);
  const more = async (cursor) => {
    button.disabled = true;
    const page = await load(cursor);
    for (const line of page.lines) body.append(h('tr', null, draw(line)));
    button.hidden = !page.end.next;
    button.disabled = false;
    button.textContent = t('more');
    button.onclick = () => more(page.end.next);
    if (body.firstChild) return;
    // A page may end early, even without a line.
    if (page.end.next) await more(page.end.next);
    else fill(box, nothing);
  };
  return { box, ready: more() };
}

/** A field that leads somewhere. */
function goBox(ctx, label, action, name) {
  const field = h('input', { type: 'search', id: name, autocomplete: 'off', spellcheck: 'false' });
  return h('form', { class: 'go', role: 'search', onsubmit: (event) => { event.preventDefault(); if (field.value.trim()) action(field.value.trim()); } },
    h('label', { for: name }, label), field, h('button', { type: 'submit' }, ctx.t('open')));
}

export const conversations = {
  path: ['conversations'], nav: 'nav.conversations', needs: ['listConversations'],
  async show(ctx) {
    const { t } = ctx;
    ctx.title(t('nav.conversations'));
    ctx.commands('syncctl conversations', ctx.curl(['conversations'], {}));
    const { box, ready } = paged(ctx, t('nav.conversations'), [t('conversation'), t('startedBy'), { text: t('messagesHead'), isNumber: true }, t('lastTime')],
      (cursor) => ctx.lines(['conversations'], { limit: 100, cursor }), (line) => [
        h('th', { scope: 'row' }, h('a', { href: ctx.link(['c', line.conversation]) }, shown(excerpt(line.title ?? line.conversation, 80))), ' ', h('code', { class: 'aside' }, shown(excerpt(line.conversation, 40)))),
        h('td', null, line.started_by ? h('a', { href: ctx.link(['u', line.started_by]) }, shown(excerpt(line.started_by, 40))) : '–'),
        h('td', { class: 'number' }, ctx.number(line.messages)), h('td', null, ctx.time(line.last_time, 'short')),
      ], ctx.empty(t('noConversations'), 'syncctl import FILE'));
    fill(ctx.body, ctx.head(t('nav.conversations')), h('div', { class: 'goes' },
      goBox(ctx, t('openConversation'), (id) => ctx.go(ctx.link(['c', id])), 'go-c'), goBox(ctx, t('openUser'), (id) => ctx.go(ctx.link(['u', id])), 'go-u')), box);
    await ready;
  },
};

export const users = {
  path: ['users'], nav: 'nav.users', needs: ['listUsers'],
  async show(ctx) {
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
  },
};

/** A value of a profile. */
const value = (of) => shown(excerpt(typeof of === 'string' ? of : JSON.stringify(of), 200));

export const user = {
  path: ['u', '*'], below: 'users', needs: ['getProfile', 'listHistory'],
  async show(ctx) {
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
  },
};

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
    h('th', { scope: 'row' }, ctx.time(line.at, 'long')), h('td', null, shown(excerpt(line.actor ?? '–', 60))), h('td', null, h('code', null, shown(excerpt(line.subject ?? '–', 80)))), h('td', null, shown(excerpt(line.reason ?? '–', 200))),
  ], ctx.empty(t('noReaders')));
  ctx.body.append(box);
  await ready;
}
