// The chat: who is here, what they may see, what comes while they look, and which view the address names.
import { h, fill, announce } from '../shared/dom.mjs';
import { link, place } from '../shared/address.mjs';
import { ApiError, lines, network, object, path, request } from '../shared/api.mjs';
import { leave, loginForm } from '../shared/login.mjs';
import { dialog } from '../shared/sheet.mjs';
import { excerpt } from '../shared/text.mjs';
import { Words, kept, keep, dress, looks } from '../shared/words.mjs';
import { Feed } from '../shared/feed.mjs';
import { find } from './find.mjs';
import { eventID } from '../shared/ids.mjs';
import { Outbox } from '../shared/outbox.mjs';
import { contactsOf, people } from './people.mjs';
import { Pieces } from './pieces.mjs';
import { Rooms } from './rooms.mjs';
import { strings } from './strings.mjs';
import { Talk } from './talk.mjs';
import { sign } from '../shared/icons.mjs';

const words = new Words(strings);
const root = document.getElementById('app');
const followed = ['message.*', 'bot.*', 'conversation.*', 'participant.*', 'survey.*', 'contact.*', 'profile.*'];

/** What all views share. */
const chat = {
  words, say: words.t, when: words.when, me: null, pieces: new Pieces(), composers: new Map(), names: new Map(), called: new Map(), marks: new Map(), bots: new Set(), photo: null, hits: null,
  rooms: null, outbox: null, feed: null, view: null, link, announce, dialog, lines, object,
  post: (parts, body) => request(path(parts), { method: 'POST', body }),
  ask: (method, parts, parameters, body) => request(path(parts, parameters), { method, body }),
  go(...parts) { location.hash = link(parts); },
  name(user) { return excerpt(user === chat.me ? chat.say('you') : chat.called.get(user) ?? chat.names.get(user) ?? user ?? '', 40); },
  time: (time, form) => h('time', { datetime: time, title: words.when(time) }, words.when(time, form)),
  subject: (conversation) => `conversation/${conversation}`,
  /** An event of the one who is here, by the outbox, which keeps it until it is stored. */
  tell: (type, conversation, data, more = {}) => chat.outbox.add({ id: eventID(), type, user: chat.me, subject: chat.subject(conversation), time: new Date().toISOString(), ...more, data }),
  async copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      announce(chat.say('copied'));
    } catch { announce(chat.say('notCopied')); }
  },
  title(...parts) {
    const count = chat.rooms?.unread ?? 0;
    document.title = (count ? `(${count}) ` : '') + [...parts.filter(Boolean).map((one) => excerpt(one, 60)), chat.say('app')].join(' · ');
  },
  failed,
};

// MARK: Views

function frame() {
  fill(root,
    h('a', { class: 'skip', href: '#main', onclick: (event) => { event.preventDefault(); document.getElementById('main').focus(); } }, chat.say('skip')),
    h('div', { class: 'chat', id: 'chat' },
      h('aside', { class: 'side', 'aria-label': chat.say('rooms') },
        h('div', { class: 'tools' },
          h('a', { class: 'brand', href: '#/' }, h('img', { src: 'chat.svg', alt: '', width: 26, height: 26 }), chat.say('app')),
          h('a', { class: 'tool', href: '#/search' }, sign('search', chat.say('search'))),
          h('a', { class: 'tool', href: '#/new' }, sign('plus', chat.say('people'))),
          h('button', { type: 'button', class: 'plain tool', id: 'settings', onclick: settings }, sign('settings', chat.say('settings')))),
        chat.rooms.element),
      h('div', { class: 'pane' },
        h('p', { id: 'offline', role: 'status', class: 'bar', hidden: true }),
        h('main', { id: 'main', tabindex: -1 }))));
  drawConnection();
  return document.getElementById('main');
}

let top = 0;

async function show() {
  if (document.getElementById('chat')?.dataset.pane === 'rooms') top = scrollY;
  chat.view?.close?.();
  chat.view = null;
  if (!chat.me) return;
  const main = document.getElementById('main') ?? frame(), { parts, query } = place();
  document.getElementById('chat').dataset.pane = parts.length ? 'main' : 'rooms';
  const view = parts[0] === 'c' && parts[1] ? new Talk(chat, parts[1], query) : parts[0] === 'search' ? find(chat, query) : parts[0] === 'new' ? people(chat) : home();
  chat.view = view;
  chat.rooms.mark(view.conversation ?? null);
  fill(main, view.element);
  chat.title(view.name);
  // Back in the list one is where one was.
  if (!parts.length) scrollTo(0, top);
  try {
    await view.show?.();
    if (chat.view === view && !view.keepsFocus) main.querySelector('h1')?.focus({ preventScroll: true });
  } catch (error) { if (chat.view === view) failed(error, main); }
}

const home = () => ({ element: h('section', { class: 'home' }, h('h1', { tabindex: -1, class: 'unseen' }, chat.say('rooms')), h('p', { class: 'hint' }, chat.say('choose'))) });

/** What cannot be shown: why, and what to do. */
function failed(error, main = document.getElementById('main')) {
  if (error.name === 'AbortError') return;
  if (error.status === 401) return over(error);
  if (!(error instanceof ApiError)) console.error(error);
  const sentence = chat.say(error.status === 404 ? 'notFound' : error.status === 0 ? 'unreachable' : 'noAnswer');
  fill(main, h('div', { class: 'page' }, back(), h('h1', { tabindex: -1 }, sentence), h('div', { class: 'error', role: 'alert' }, h('p', null, error.message), h('p', null, h('code', null, error.code ?? error.name)),
    h('button', { type: 'button', onclick: show }, chat.say('retry')))));
}

const back = () => h('a', { class: 'tool back', href: '#/' }, sign('back', chat.say('back')));
chat.back = back;

/** All anew, in another language or look. */
function again() {
  frame();
  chat.rooms.draw();
  return show();
}

function settings() {
  const { say } = chat, look = kept('look') ?? 'auto';
  // What is chosen here stands in the profile, for the other pages of the one who is here, and for bots.
  const choose = (fields) => {
    sheet.sheet.close();
    prefer(fields);
    chat.outbox.add({ id: eventID(), type: 'profile.changed', user: chat.me, time: new Date().toISOString(), data: { fields } });
    again().then(() => document.getElementById('settings')?.focus());
  };
  const sheet = dialog(say('settings'), say,
    h('p', null, h('button', { type: 'button', lang: words.other, onclick: () => choose({ language: words.other }) }, words.otherName)),
    h('p', null, h('button', { type: 'button', onclick: () => choose({ appearance: ({ auto: 1, light: 2 })[look] ?? 0 }) }, say(`look.${look}`))),
    h('p', { class: 'help' }, say('signedInAs', chat.me)),
    h('p', { class: 'help' }, say('eraseHelp')),
    h('p', null, h('a', { href: '../mine/' }, say('mine'))),
    h('p', null, h('button', { type: 'button', onclick: async () => { sheet.sheet.close(); await leave(); over(); } }, say('logout'))));
}

/** Takes over a language and an appearance (0 the system's, 1 light, 2 dark). Says whether the language has changed. */
function prefer({ language, appearance }) {
  if (looks[appearance] && looks[appearance] !== (kept('look') ?? 'auto')) { keep('look', looks[appearance]); dress(); }
  if (language !== words.other) return false;
  words.speak();
  return true;
}

/** What the profile says comes before what this browser has kept; not before what was chosen here and is not stored yet. */
async function profile() {
  const mine = chat.me;
  try {
    const { lines: fields } = await lines(['users', mine], { limit: 500 });
    if (mine !== chat.me) return;
    const of = Object.fromEntries(fields.map((one) => [one.name, one.value]));
    if (typeof of.name === 'string') chat.names.set(mine, of.name);
    chat.photo = /^[0-9a-f]{64}$/.test(of.photo?.sha256) ? of.photo : null;
    if (!chat.outbox.of(undefined).some((one) => one.state !== 'refused') && prefer(of)) await again();
    else chat.view?.named?.();
  } catch (error) { if (error.status === 401) failed(error); }
}

/** Bots that have answered before: of them an answer is awaited. */
async function answerers() {
  const found = await lines(['users', chat.me, 'history'], { type: ['bot.replied', 'bot.failed'], limit: 50 }).catch(() => null);
  for (const { event } of found?.lines ?? []) chat.bots.add(event.author);
  chat.view?.drawOpen?.();
}

// MARK: Coming and going

function login(remark) {
  chat.title(chat.say('login'));
  const { form, token } = loginForm(words, { icon: 'chat.svg', name: chat.say('app'), more: null, remark, done: begin, draw: login });
  fill(root, h('main', { id: 'main', class: 'alone' }, form));
  token.focus();
}

/** The session is over; what was not sent yet stays for the next one. */
function over(error) {
  if (!chat.me) return;
  chat.feed?.end();
  chat.outbox?.end();
  chat.view?.close?.();
  Object.assign(chat, { me: null, feed: null, view: null });
  login(error?.code === 'E_TOKEN_EXPIRED' ? chat.say('sessionOver') : undefined);
}

async function begin() {
  let caller;
  try { caller = await object(['me']); } catch (error) { return login(error.status === 401 ? undefined : error.message); }
  const role = caller.roles.find((one) => one.startsWith('user:'));
  if (!role) return login(chat.say('noUser'));
  // What is kept for one is for no other.
  if (chat.was !== role) for (const one of [chat.composers, chat.names, chat.called, chat.marks, chat.bots]) one.clear();
  chat.was = role;
  chat.hits = null;
  chat.me = role.slice(5);
  chat.rooms = new Rooms(chat);
  const box = `outbox.${chat.me}`;
  chat.outbox = new Outbox({
    send: (event) => request('/v1/events', { method: 'POST', body: event }).catch((error) => { if (error.status === 401) over(error); throw error; }),
    load: () => { try { return JSON.parse(kept(box) ?? '[]'); } catch { return []; } },
    save: (list) => keep(box, JSON.stringify(list)),
    changed: (subject) => { chat.view?.drawOpen?.(); chat.rooms.drawSoon(); if (!subject) chat.title(chat.view?.name); },
  });
  fill(root);
  frame();
  follow();
  chat.outbox.start();
  await Promise.all([chat.rooms.load(), show()]);
  await Promise.all([profile(), answerers()]);
  // How the one who is here calls others: what is shown already is named anew.
  try { if (chat.view && (await contactsOf(chat)).length) chat.view?.named?.(); } catch { /* by their own names, then */ }
}

// MARK: What comes

function follow() {
  chat.feed = new Feed({
    open: (after, signal) => request(path(['changes'], { after, live: 1, type: followed }), { accept: 'application/x-ndjson', signal }),
    event: arrived,
    live(item) {
      if (item.kind === 'delta') {
        const isFirst = chat.pieces.take(item, Date.now());
        if (isFirst && chat.view?.conversation === item.conversation) announce(chat.say('answering', chat.name(item.author)));
      }
      chat.view?.told?.(item);
    },
    ready(isAnew) {
      chat.outbox.flush();
      // At the first start all is loaded before this place or after it: what came between is looked for once.
      if (isAnew) chat.rooms.loadSoon();
      chat.view?.renew?.(isAnew);
    },
    over: failed,
    state(isLive) {
      if (!isLive) chat.pieces.clear();
      chat.view?.drawOpen?.();
      drawConnection();
    },
  });
  chat.feed.run();
}

function arrived(event) {
  chat.outbox.seen(event.id);
  chat.pieces.end(event);
  if (event.subject?.startsWith('conversation/')) chat.rooms.loadSoon();
  else if (event.type.startsWith('contact.')) { if (chat.view?.people) chat.view.people(); else contactsOf(chat).catch(() => {}); } else if (event.type === 'profile.changed') {
    chat.rooms.loadSoon();
    if (event.user === chat.me) profile();
  }
  chat.view?.arrived?.(event);
}

let away;
function drawConnection() {
  clearTimeout(away);
  const bar = document.getElementById('offline');
  if (!bar) return;
  const isAway = network.since !== null || Boolean(chat.feed && !chat.feed.isLive && !chat.feed.isParked && !chat.feed.isAnew);
  // A short break is not worth a word.
  if (!isAway) { bar.hidden = true; fill(bar); } else away = setTimeout(() => { bar.hidden = false; fill(bar, chat.say('offline')); }, 300);
}

network.changed = () => {
  if (network.since === null) { chat.feed?.wake(); chat.outbox?.flush(); }
  drawConnection();
};
addEventListener('online', () => chat.feed?.wake());
let parking;
document.addEventListener('visibilitychange', () => {
  clearTimeout(parking);
  // A page that nobody looks at leaves its connection to those that are looked at.
  if (document.hidden) parking = setTimeout(() => chat.feed?.park(), 60_000);
  else { if (chat.feed?.isParked) chat.feed.wake(); chat.view?.looked?.(); }
});
// Nor does one that a browser keeps for the way back.
addEventListener('pagehide', () => chat.feed?.park());
addEventListener('pageshow', (event) => { if (event.persisted) chat.feed?.wake(); });
addEventListener('hashchange', show);

dress();
begin();
