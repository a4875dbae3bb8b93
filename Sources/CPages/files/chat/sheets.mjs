// Sheets above the page: settings, and what is asked before something goes out of sight.
import { h } from '../shared/dom.mjs';
import { eventID } from '../shared/ids.mjs';
import { leave } from '../shared/login.mjs';
import { shown } from '../shared/prose.mjs';
import { dialog } from '../shared/sheet.mjs';
import { excerpt } from '../shared/text.mjs';
import { kept } from '../shared/words.mjs';
import { prefer } from './live.mjs';
import './seldom.mjs';

/** One at a time: a second click, while the first one waited for this module, opens no second sheet. */
const isOpen = () => document.querySelector('dialog') !== null;

/** Language, appearance, and the way out. */
export function settings(chat) {
  if (isOpen()) return;
  const { say, words } = chat, look = kept('look') ?? 'auto';
  // What is chosen here stands in the profile, for the other pages of the one who is here, and for bots.
  const choose = (fields) => {
    sheet.sheet.close();
    prefer(chat, fields);
    chat.outbox.add({ id: eventID(), type: 'profile.changed', user: chat.me, time: new Date().toISOString(), data: { fields } });
    chat.again().then(() => document.getElementById('settings')?.focus());
  };
  const sheet = dialog(say('settings'), say,
    h('p', null, h('button', { type: 'button', lang: words.other, onclick: () => choose({ language: words.other }) }, words.otherName)),
    h('p', null, h('button', { type: 'button', onclick: () => choose({ appearance: ({ auto: 1, light: 2 })[look] ?? 0 }) }, say(`look.${look}`))),
    h('p', { class: 'help' }, say('signedInAs', chat.me)),
    h('p', { class: 'help' }, say('eraseHelp')),
    h('p', null, h('a', { href: '../mine/' }, say('mine'))),
    h('p', null, h('button', { type: 'button', onclick: async () => { sheet.sheet.close(); await leave(); chat.over(); } }, say('logout'))));
}

/** A conversation can be taken from one's own list; what erasing it would be is said. */
export function manage(chat, talk) {
  if (isOpen()) return;
  const { say } = chat, isHidden = chat.rooms.room(talk.conversation)?.hidden === true;
  const sheet = dialog(say(isHidden ? 'unhideAsk' : 'hideAsk'), say, h('p', { class: 'quote' }, shown(talk.name)), isHidden ? null : h('p', null, say('hideHelp')),
    h('p', null, h('button', { type: 'button', class: 'main', onclick: () => {
      sheet.sheet.close();
      chat.tell(isHidden ? 'conversation.shown' : 'conversation.hidden', talk.conversation, {});
      chat.announce(say(isHidden ? 'unhidden' : 'hidden'));
      if (!isHidden) chat.go();
    } }, say(isHidden ? 'unhide' : 'hide'))), h('p', { class: 'help' }, say('eraseHelp')));
}

/** What was said can be taken back; what that means is said. */
export function takeBack(chat, talk, row) {
  if (isOpen()) return;
  const { say } = chat, sheet = dialog(say('takeBackAsk'), say, h('p', { class: 'quote' }, shown(excerpt(row.text ?? '', 200))), h('p', null, say('takeBackHelp')),
    h('p', null, h('button', { type: 'button', class: 'main', onclick: () => { sheet.sheet.close(); chat.tell('message.retracted', talk.conversation, { message: row.id }); } }, say('takeBack'))));
}
