// The chat: who is here, what they may see, and which view the address names.
import { h, fill, announce } from '../shared/dom.mjs';
import { link, place } from '../shared/address.mjs';
import { ApiError, later, lines, network, object, path, request } from '../shared/api.mjs';
import { excerpt } from '../shared/text.mjs';
import { Words, kept, keep, dress } from '../shared/words.mjs';
import { eventID } from '../shared/ids.mjs';
import { Outbox } from '../shared/outbox.mjs';
import { Rooms } from './rooms.mjs';
import { strings } from './strings.mjs';
import { Talk } from './talk.mjs';
import { sign } from '../shared/icons.mjs';

const words = new Words(strings);
const root = document.getElementById('app');

/** What a first look can do without. */
const parts = {
  live: later(() => import('./live.mjs')), find: later(() => import('./find.mjs')), people: later(() => import('./people.mjs')),
  sheets: later(() => import('./sheets.mjs')), files: later(() => import('./files.mjs')),
  login: later(async () => { await import('./seldom.mjs'); return import('../shared/login.mjs'); }),
};

/** What all views share. */
const chat = {
  words, say: words.t, when: words.when, me: null, composers: new Map(), names: new Map(), called: new Map(), marks: new Map(), bots: new Set(), photo: null, hits: null,
  rooms: null, outbox: null, feed: null, coming: null, view: null, link, announce, lines, object, parts, again, over, drawConnection,
  post: (parts, body) => request(path(parts), { method: 'POST', body }),
  ask: (method, parts, parameters, body) => request(path(parts, parameters), { method, body }),
  go(...parts) { location.hash = link(parts); },
  name(user) { return excerpt(user === chat.me ? chat.say('you') : chat.called.get(user) ?? chat.names.get(user) ?? user ?? '', 40); },
  time: (time, form) => h('time', { datetime: time, title: words.when(time) }, words.when(time, form)),
  subject: (conversation) => `conversation/${conversation}`,
  /** An event of the one who is here, by the outbox, which keeps it until it is stored. */
  tell: (type, conversation, data, more = {}) => chat.outbox.add({ id: eventID(), type, user: chat.me, subject: chat.subject(conversation), time: new Date().toISOString(), ...more, data }),
  title(...parts) {
    const count = chat.rooms?.unread ?? 0;
    document.title = (count ? `(${count}) ` : '') + [...parts.filter(Boolean).map((one) => excerpt(one, 60)), chat.say('app')].join(' · ');
  },
  failed,
  /** Does something of a part, once that is here. */
  use: async (part, name, ...values) => (await parts[part]().catch(missing))?.[name](chat, ...values),
};

// MARK: Views

const brand = () => [h('img', { src: 'chat.svg', alt: '', width: 26, height: 26 }), chat.say('app')];

function frame() {
  fill(root,
    h('a', { class: 'skip', href: '#main', onclick: (event) => { event.preventDefault(); document.getElementById('main').focus(); } }, chat.say('skip')),
    h('div', { class: 'chat', id: 'chat' },
      h('aside', { class: 'side', 'aria-label': chat.say('rooms') },
        h('div', { class: 'tools' },
          h('a', { class: 'brand', href: '#/' }, brand()),
          h('a', { class: 'tool', href: '#/search' }, sign('search', chat.say('search'))),
          h('a', { class: 'tool', href: '#/new' }, sign('plus', chat.say('people'))),
          h('button', { type: 'button', class: 'plain tool', id: 'settings', onclick: () => chat.use('sheets', 'settings') }, sign('settings', chat.say('settings')))),
        chat.rooms.element),
      h('div', { class: 'pane' },
        h('p', { id: 'offline', role: 'status', class: 'bar', hidden: true }),
        h('main', { id: 'main', tabindex: -1 }))));
  drawConnection();
  return document.getElementById('main');
}

let top = 0, shows = 0;

async function show() {
  const mine = shows += 1;
  if (document.getElementById('chat')?.dataset.pane === 'rooms') top = scrollY;
  chat.view?.close?.();
  chat.view = null;
  if (!chat.me) return;
  const main = document.getElementById('main') ?? frame(), { parts: [name, ...more], query } = place();
  document.getElementById('chat').dataset.pane = name ? 'main' : 'rooms';
  let view = name === 'c' && more[0] ? new Talk(chat, more[0], query) : name === 'search' || name === 'new' ? null : home();
  if (!view) {
    fill(main, h('div', { class: 'page' }, h('div', { class: 'skeleton', role: 'status' }, h('span', { class: 'unseen' }, chat.say('loading')))));
    try {
      view = name === 'search' ? (await parts.find()).find(chat, query) : (await parts.people()).people(chat);
    } catch (error) { if (mine === shows) failed(error, main); }
    // One has gone elsewhere meanwhile.
    if (!view || mine !== shows) return;
  }
  chat.view = view;
  chat.rooms.mark(view.conversation ?? null);
  fill(main, view.element);
  chat.title(view.name);
  // Back in the list one is where one was.
  if (!name) scrollTo(0, top);
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

// MARK: Coming and going

async function login(remark) {
  chat.title(chat.say('login'));
  const main = h('main', { id: 'main', class: 'alone' });
  fill(root, main);
  let part;
  try { part = await parts.login(); } catch {
    return fill(main, h('div', { class: 'error', role: 'alert' }, h('p', null, chat.say('unreachable')), h('button', { type: 'button', onclick: () => login(remark) }, chat.say('retry'))));
  }
  const { form, token } = part.loginForm(words, { icon: 'chat.svg', name: chat.say('app'), more: null, remark, done: begin, draw: login });
  fill(main, form);
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
  chat.outbox.start();
  await Promise.all([chat.rooms.load(), show()]);
  follow();
}

// MARK: What comes

/** What follows the log is loaded behind what is seen first; it is asked for until it is there. */
async function follow() {
  if (!chat.me) return;
  const mine = chat.me, live = await parts.live().catch(() => null);
  if (chat.me !== mine || chat.feed) return;
  if (live) live.follow(chat); else setTimeout(follow, 2_000);
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

/** A part of the page did not come: it is said for a while, where one looks for such a thing. */
function missing() {
  clearTimeout(away);
  const bar = document.getElementById('offline');
  if (!bar) return;
  bar.hidden = false;
  fill(bar, chat.say('unreachable'));
  away = setTimeout(drawConnection, 5_000);
}

network.changed = () => {
  if (network.since === null) { chat.feed?.wake(); chat.outbox?.flush(); }
  drawConnection();
};
addEventListener('hashchange', show);

dress();
// Something stands there while the node is asked who is here.
fill(root, h('div', { class: 'chat' }, h('div', { class: 'side' }, h('div', { class: 'tools' }, h('span', { class: 'brand' }, brand())))));
begin();
