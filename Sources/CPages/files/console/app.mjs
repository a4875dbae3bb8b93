// The console: who looks, which pages the node offers them, and which of them the address names.
import { h, fill, announce } from '../shared/dom.mjs';
import { Words, kept, keep, dress } from '../shared/words.mjs';
import { link, place } from '../shared/address.mjs';
import { network, object, later, lines, request, ApiError, path } from '../shared/api.mjs';
import { strings } from '../shared/strings.mjs';
import { excerpt } from '../shared/text.mjs';
import { keys } from './keys.mjs';

/** What is loaded when the address names a page of it, or when someone is to come in. */
const parts = {
  entry: later(() => import('./entry.mjs')),
  access: later(() => import('./access.mjs')), conversation: later(() => import('./conversation.mjs')), lists: later(() => import('./lists.mjs')),
  node: later(() => import('./node.mjs')), proof: later(() => import('./proof.mjs')), search: later(() => import('./search.mjs')),
  surveys: later(() => import('./surveys.mjs')), user: later(() => import('./user.mjs')), why: later(() => import('./why.mjs')), work: later(() => import('./work.mjs')),
};

/** In the order of the navigation. `needs`: what of the API a page cannot do without; `part` has a function of that `name` that shows it. */
const pages = [
  { path: ['overview'], nav: 'nav.overview', needs: ['getStatus'], part: 'node', name: 'overview' },
  { path: ['conversations'], nav: 'nav.conversations', needs: ['listConversations'], part: 'lists', name: 'conversations' },
  { path: ['users'], nav: 'nav.users', needs: ['listUsers'], part: 'lists', name: 'users' },
  { path: ['search'], nav: 'nav.search', needs: ['search'], part: 'search', name: 'search' },
  { path: ['surveys'], nav: 'nav.surveys', needs: ['listSurveys'], part: 'surveys', name: 'surveys' },
  { path: ['verify'], nav: 'nav.verify', needs: ['getReceipt'], part: 'proof', name: 'verify' },
  { path: ['nodes'], nav: 'nav.nodes', needs: ['listPeers'], part: 'node', name: 'nodes' },
  { path: ['subscriptions'], nav: 'nav.subscriptions', needs: ['listSubscriptions'], part: 'work', name: 'subscriptions' },
  { path: ['quarantine'], nav: 'nav.quarantine', needs: ['listQuarantine'], part: 'node', name: 'quarantine' },
  { path: ['erasures'], nav: 'nav.erasures', needs: ['listErasures'], part: 'node', name: 'erasures' },
  { path: ['access'], nav: 'nav.access', needs: ['listAccess'], part: 'access', name: 'access' },
  { path: ['c', '*'], below: 'conversations', needs: ['listRows', 'getConversation'], part: 'conversation', name: 'conversation' },
  { path: ['u', '*'], below: 'users', needs: ['getProfile', 'listHistory'], part: 'user', name: 'user' },
  { path: ['surveys', '*'], below: 'surveys', needs: ['getSurvey'], part: 'surveys', name: 'survey' },
  { path: ['why', '*'], below: 'conversations', needs: ['getWhy'], part: 'why', name: 'why' },
  { path: ['subscriptions', '*'], below: 'subscriptions', needs: ['getSubscription', 'listParked'], part: 'work', name: 'subscription' },
];

const words = new Words(strings);
const { t, when, number, bytes } = words;

const state = { me: null, operations: new Map(), node: null, shown: null };
const root = document.getElementById('app');

function offered(page) {
  return page.needs.every((name) => state.operations.get(name)?.some((role) => state.me.kinds.has(role)));
}

// MARK: What a page is given

function context(page, args, query, main, signal) {
  const ctx = {
    t, when, number, bytes, link, args, query, main, signal, me: state.me, node: state.node, language: words.language,
    time: (time, form) => h('time', { datetime: time, title: `${when(time)} · ${new Date(time).toISOString?.() ?? time}` }, when(time, form)),
    can: (name) => state.operations.get(name)?.some((role) => state.me.kinds.has(role)) ?? false,
    has: (name) => state.operations.has(name),
    parameters: (name) => state.operations.get(name)?.parameters ?? [],
    go: (to) => { location.hash = to; },
    /** Puts parameters into the address without a step in the history. */
    note(parameters) {
      const all = Object.fromEntries(query);
      Object.assign(all, parameters);
      for (const [name, value] of Object.entries(all)) value === null || value === '' ? query.delete(name) : query.set(name, value);
      history.replaceState(null, '', link(place().parts, Object.fromEntries(query)));
    },
    title(...words) {
      document.title = [...words.filter(Boolean).map((word) => excerpt(word, 60)), state.node?.name, 'Sillok'].filter(Boolean).join(' · ');
    },
    lines: (parts, parameters) => lines(parts, parameters, { signal }),
    object: (parts, parameters) => object(parts, parameters, { signal }),
    text: async (url) => { const answer = await request(url, { signal }); return { text: await answer.text(), next: answer.headers.get('Link') }; },
    post: (parts, body) => request(path(parts), { method: 'POST', body, signal }),
    kept, keep,
    /** Runs now and again, as long as the page stands and is looked at. */
    async every(ms, body) {
      for (;;) {
        if (!document.hidden) await body();
        await new Promise((done) => setTimeout(done, ms));
        if (signal.aborted) return;
      }
    },
    /** How to have the same in a terminal. */
    commands(...list) {
      const box = main.querySelector('.commands');
      if (!box) return;
      fill(box, h('summary', null, t('commands')), list.filter(Boolean).map((words) => h('p', null,
        h('code', null, words), ' ', h('button', { type: 'button', class: 'inline', onclick: () => copy(words) }, t('copy')))));
    },
    curl: (parts, parameters) => `curl -s -H "Authorization: Bearer $(cat TOKEN)" '${location.origin}${path(parts, parameters).replaceAll("'", '%27')}'`,
    copy,
    head(title, ...more) {
      return h('header', { class: 'head' }, h('h1', { tabindex: -1 }, title), more);
    },
    empty: (text, command) => h('div', { class: 'empty' }, h('p', null, text), command ? h('p', null, h('code', null, command)) : null),
    focusRow: () => {},
  };
  return ctx;
}

/** A word for a shell. */
export const quoted = (word) => /^[\w.\-/:@가-힣]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    announce(t('copied'));
  } catch { announce(t('notCopied')); }
}

// MARK: Showing

let leaving = new AbortController();

/** The page of an address. */
const named = (names) => pages.find((one) => one.path.length === names.length && one.path.every((name, at) => name === '*' || name === names[at]));

async function show() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving, { parts: names, query } = place(), page = named(names);
  if (!state.me) return login();
  if (names.length === 0) {
    const first = pages.find((one) => one.nav && offered(one));
    if (first) return history.replaceState(null, '', link(first.path)), show();
  }
  const main = frame(page);
  const args = page ? names.filter((_, at) => page.path[at] === '*') : [];
  const body = h('div', { class: 'page' }), tools = h('details', { class: 'commands' });
  fill(main, body, tools);
  const ctx = context(page, args, query, main, signal);
  ctx.body = body;
  state.shown = ctx;
  if (!page || !offered(page)) {
    fill(body, ctx.head(t('noPage')), h('p', null, page ? t('noRole', [...state.me.kinds].join(', ')) : t('noSuchPage')));
    ctx.title(t('noPage'));
    return;
  }
  const slow = setTimeout(() => { if (!body.firstChild) fill(body, h('div', { class: 'skeleton', role: 'status' }, h('span', { class: 'unseen' }, t('loading')))); }, 150);
  try {
    const part = await parts[page.part]();
    // One may have gone elsewhere meanwhile.
    if (!signal.aborted) await part[page.name](ctx);
    if (!signal.aborted && !ctx.keepsFocus) body.querySelector('h1')?.focus({ preventScroll: true });
  } catch (error) { failed(ctx, error); } finally { clearTimeout(slow); }
}

function failed(ctx, error) {
  if (error.name === 'AbortError' || ctx.signal.aborted) return;
  if (error.status === 401) { state.me = null; return login(error.code === 'E_TOKEN_EXPIRED' ? t('sessionOver') : undefined); }
  if (error.code === 'E_REASON') return askReason();
  if (!(error instanceof ApiError)) console.error(error);
  const sentence = error.status === 403 ? t('forbidden') : error.status === 404 ? t('notFound') : error.status === 0 ? t('unreachable')
    : error.code === 'E_SCOPE' ? t('tooMuch') : t('failed');
  fill(ctx.body, ctx.head(sentence), h('div', { class: 'error', role: 'alert' },
    h('p', null, error.message, error.hint ? ` (${error.hint})` : null), h('p', null, h('code', null, error.code ?? error.name)),
    h('button', { type: 'button', onclick: show }, t('retry'))));
}

const brand = () => [h('img', { src: 'seal.svg', alt: '', width: 26, height: 26 }), 'Sillok'];

function frame(page) {
  const current = pages.find((one) => one.nav && (one === page || page?.below === one.path[0]));
  const look = kept('look');
  fill(root,
    h('a', { class: 'skip', href: '#main', onclick: (event) => { event.preventDefault(); document.getElementById('main').focus(); } }, t('skip')),
    h('header', { class: 'top' },
      h('a', { class: 'brand', href: '#/' }, brand()),
      h('nav', { 'aria-label': t('pages') }, pages.filter((one) => one.nav && offered(one)).map((one) =>
        h('a', { href: link(one.path), 'aria-current': one === current ? 'page' : null }, t(one.nav)))),
      h('div', { class: 'self' },
        state.node ? h('span', { class: /prod/i.test(state.node.cluster) ? 'where production' : 'where' }, h('strong', null, excerpt(state.node.name, 30)), ' · ', excerpt(state.node.cluster, 30)) : null,
        state.me.isRecorded ? h('button', { type: 'button', class: 'plain', title: t('reasonIs'), onclick: askReason }, t('reason'), ': ', excerpt(network.reason || '–', 20)) : null,
        h('button', { type: 'button', class: 'plain', onclick: () => { words.speak(); show(); }, lang: words.other }, words.otherName),
        h('button', { type: 'button', class: 'plain', onclick: () => { keep('look', { light: 'dark', dark: 'auto' }[look] ?? 'light'); dress(); show(); } }, t(`look.${look ?? 'auto'}`)),
        h('button', { type: 'button', class: 'plain', onclick: logout }, t('logout')))),
    h('div', { id: 'offline', role: 'status', class: 'bar', hidden: network.since === null }, network.since ? t('offline', when(network.since, 'clock')) : null),
    h('main', { id: 'main', tabindex: -1 }),
    h('footer', { class: 'foot' }, h('button', { type: 'button', class: 'plain', onclick: () => keys.help(t) }, t('keys')), ' · ',
      Intl.DateTimeFormat().resolvedOptions().timeZone, ' · ', excerpt(state.me.principal, 40), ' (', [...state.me.kinds].join(', '), ')'));
  return root.querySelector('main');
}

network.changed = () => {
  const bar = document.getElementById('offline');
  if (!bar) return;
  bar.hidden = network.since === null;
  fill(bar, network.since ? t('offline', when(network.since, 'clock')) : null);
  if (network.since === null) show();
};

// MARK: Coming and going

/** Shows the way in, which has a module of its own. */
async function enter(name, ...values) {
  leaving.abort();
  const main = h('main', { id: 'main', class: 'alone' });
  fill(root, main);
  try { (await parts.entry())[name](main, ...values); } catch (error) {
    fill(main, h('div', { class: 'error', role: 'alert' }, h('p', null, error.status === 0 ? t('unreachable') : error.message), h('button', { type: 'button', onclick: () => enter(name, ...values) }, t('retry'))));
  }
}

function login(remark) {
  document.title = `${t('login')} · Sillok`;
  return enter('login', words, { remark, done: begin, draw: login });
}

async function logout() {
  await request('/v1/sessions', { method: 'DELETE' }).catch(() => {});
  Object.assign(state, { me: null, node: null });
  network.reason = '';
  sessionStorage.removeItem('sillok.reason');
  login();
}

const askReason = () => enter('askReason', t, show);

/** Asks once who looks, and what the node offers. */
async function begin() {
  // What the address names is on its way meanwhile; that it did not come is told where it is shown.
  parts[named(place().parts)?.part]?.().catch(() => {});
  try {
    const [me, document] = await Promise.all([object(['me']), object(['openapi.json'])]);
    const kinds = new Set(me.roles.map((role) => role.split(':')[0]));
    state.me = { ...me, kinds, isRecorded: kinds.has('auditor') && !kinds.has('app') && !kinds.has('reader') };
    network.reason = state.me.isRecorded ? sessionStorage.getItem('sillok.reason') ?? '' : '';
    for (const methods of Object.values(document.paths)) {
      for (const route of Object.values(methods)) {
        state.operations.set(route.operationId, Object.assign([...route['x-roles']], { parameters: (route.parameters ?? []).map((one) => one.name) }));
      }
    }
    await nodeName();
  } catch (error) {
    if (error.status === 401) return login();
    state.me = null;
    login(error.message);
    return;
  }
  if (state.me.isRecorded && !network.reason) return askReason();
  await show();
}

async function nodeName() {
  const may = (name) => state.operations.get(name)?.some((role) => state.me.kinds.has(role));
  if (may('getStatus')) state.node = await object(['status']);
  else if (may('getReceipt')) state.node = JSON.parse((await (await request('/v1/receipt')).text()).split('\n', 1)[0]);
  else state.node = { name: state.me.node.slice(0, 8), cluster: '' };
}

dress();
// Something stands there while the node is asked who looks.
fill(root, h('header', { class: 'top' }, h('span', { class: 'brand' }, brand())));
addEventListener('hashchange', show);
keys.listen(() => state.shown, (page) => { const found = pages.find((one) => one.path[0] === page && one.nav); if (found && offered(found)) location.hash = link(found.path); }, t);
begin();
