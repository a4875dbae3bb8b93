// What comes while one looks.
import { announce } from '../shared/dom.mjs';
import { path, request } from '../shared/api.mjs';
import { Feed } from '../shared/feed.mjs';
import { dress, keep, kept, looks } from '../shared/words.mjs';
import * as coming from './coming.mjs';
import { Pieces } from './pieces.mjs';

export { menu } from './coming.mjs';

const followed = ['message.*', 'bot.*', 'conversation.*', 'participant.*', 'survey.*', 'contact.*', 'profile.*'];

/** Follows the log from now on, and asks for what is not needed for a first look. */
export async function follow(chat) {
  const pieces = chat.pieces = new Pieces();
  /** The conversation that is looked at. */
  const talk = () => chat.view?.conversation ? chat.view : null;
  if (!chat.coming) watch(chat);
  chat.coming = coming;
  const feed = chat.feed = new Feed({
    open: (after, signal) => request(path(['changes'], { after, live: 1, type: followed }), { accept: 'application/x-ndjson', signal }),
    event(event) {
      arrived(chat, event);
      if (talk()) coming.arrived(talk(), event);
    },
    live(item) {
      if (item.kind === 'delta') {
        const isFirst = pieces.take(item, Date.now());
        if (isFirst && chat.view?.conversation === item.conversation) announce(chat.say('answering', chat.name(item.author)));
      }
      if (talk()) coming.told(talk(), item);
    },
    ready(isAnew) {
      chat.outbox.flush();
      // At the first start all is loaded before this place or after it: what came between is looked for once.
      if (isAnew) chat.rooms.loadSoon();
      if (talk()) coming.renew(talk(), isAnew);
    },
    over: chat.failed,
    state(isLive) {
      if (!isLive) pieces.clear();
      chat.view?.drawOpen?.();
      chat.drawConnection();
    },
  });
  feed.run();
  talk()?.seen();
  await Promise.all([profile(chat), answerers(chat)]);
  // How the one who is here calls others: what is shown already is named anew.
  try { if (chat.view && (await contactsOf(chat)).length) chat.view?.named?.(); } catch { /* by their own names, then */ }
}

/** Whether anyone looks. */
function watch(chat) {
  let parking;
  addEventListener('online', () => chat.feed?.wake());
  const look = () => {
    clearTimeout(parking);
    // A page out of sight leaves its connection to those that are looked at.
    if (document.hidden) parking = setTimeout(() => chat.feed?.park(), 60_000);
    else { if (chat.feed?.isParked) chat.feed.wake(); chat.view?.looked?.(); }
  };
  document.addEventListener('visibilitychange', look);
  look();
  // Nor does one that a browser keeps for the way back.
  addEventListener('pagehide', () => chat.feed?.park());
  addEventListener('pageshow', (event) => { if (event.persisted) chat.feed?.wake(); });
}

function arrived(chat, event) {
  chat.outbox.seen(event.id);
  chat.pieces.end(event);
  if (event.subject?.startsWith('conversation/')) chat.rooms.loadSoon();
  else if (event.type.startsWith('contact.')) { if (chat.view?.people) chat.view.people(); else contactsOf(chat).catch(() => {}); } else if (event.type === 'profile.changed') {
    chat.rooms.loadSoon();
    if (event.user === chat.me) profile(chat);
  }
}

/** Takes over a language and an appearance (0 the system's, 1 light, 2 dark). Says whether the language has changed. */
export function prefer({ words }, { language, appearance }) {
  if (looks[appearance] && looks[appearance] !== (kept('look') ?? 'auto')) { keep('look', looks[appearance]); dress(); }
  if (language !== words.other) return false;
  words.speak();
  return true;
}

/** What the profile says comes before what this browser has kept; not before what was chosen here and is not stored yet. */
async function profile(chat) {
  const mine = chat.me;
  try {
    const { lines: fields } = await chat.lines(['users', mine], { limit: 500 });
    if (mine !== chat.me) return;
    const of = Object.fromEntries(fields.map((one) => [one.name, one.value]));
    if (typeof of.name === 'string') chat.names.set(mine, of.name);
    chat.photo = /^[0-9a-f]{64}$/.test(of.photo?.sha256) ? of.photo : null;
    if (!chat.outbox.of(undefined).some((one) => one.state !== 'refused') && prefer(chat, of)) await chat.again();
    else chat.view?.named?.();
  } catch (error) { if (error.status === 401) chat.failed(error); }
}

/** Bots that have answered before: of them an answer is awaited. */
async function answerers(chat) {
  const found = await chat.lines(['users', chat.me, 'history'], { type: ['bot.replied', 'bot.failed'], limit: 50 }).catch(() => null);
  for (const { event } of found?.lines ?? []) chat.bots.add(event.author);
  chat.view?.drawOpen?.();
}

/** All contacts; from then on they have the names that were kept. */
export async function contactsOf(chat) {
  const contacts = [];
  let cursor;
  do {
    const page = await chat.lines(['users', chat.me, 'contacts'], { limit: 500, cursor });
    contacts.push(...page.lines);
    cursor = page.end.more ? page.end.next : null;
  } while (cursor);
  chat.called = new Map(contacts.filter((one) => one.name).map((one) => [one.contact, one.name]));
  for (const one of contacts) if (one.profile_name) chat.names.set(one.contact, one.profile_name);
  if (chat.rooms.isLoaded) chat.rooms.draw();
  return contacts;
}
