// Whom one keeps, and how a conversation of two begins.
import { h, fill } from '../shared/dom.mjs';
import { shown } from '../shared/prose.mjs';
import { excerpt } from '../shared/text.mjs';
import { sign } from '../shared/icons.mjs';
import { contactsOf } from './live.mjs';
import './seldom.mjs';

export function people(chat) {
  const { say } = chat, problem = h('p', { role: 'alert', class: 'problem' });
  const user = h('input', { type: 'text', id: 'user', required: true, maxlength: 256, autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off' });
  const name = h('input', { type: 'text', id: 'name', maxlength: 200, autocomplete: 'off' });
  const filter = h('input', { type: 'search', id: 'filter', 'aria-label': say('filter'), placeholder: say('filter'), oninput: () => draw() });
  const list = h('ul', { class: 'contacts' });
  let contacts = [];

  const safely = (body) => async (...values) => {
    fill(problem);
    try { await body(...values); } catch (error) { if (error.status === 401) chat.failed(error); else fill(problem, error.status === 0 ? say('unreachable') : error.message); }
  };

  const talk = safely(async (other) => {
    const answer = await (await chat.ask('POST', ['direct', other])).json();
    chat.rooms.loadSoon();
    chat.go('c', answer.conversation);
  });

  const remove = safely(async (other) => {
    await chat.ask('DELETE', ['users', chat.me, 'contacts', other]);
    chat.announce(say('removed', excerpt(other, 40)));
    await load();
    filter.focus();
  });

  const keep = safely(async () => {
    const other = user.value.trim();
    if (!other) return user.focus();
    await chat.ask('PUT', ['users', chat.me, 'contacts', other], {}, name.value.trim() ? { name: name.value.trim() } : {});
    user.value = name.value = '';
    chat.announce(say('kept', excerpt(other, 40)));
    await load();
    user.focus();
  });

  const load = safely(async () => {
    contacts = await contactsOf(chat);
    draw();
  });

  function draw() {
    const begins = filter.value.trim().normalize('NFC').toLocaleLowerCase();
    const all = contacts.map((one) => ({ ...one, called: one.name ?? one.profile_name ?? one.contact }))
      .filter((one) => [one.called, one.contact].some((text) => text.normalize('NFC').toLocaleLowerCase().startsWith(begins)))
      .sort((a, b) => a.called.localeCompare(b.called, chat.words.locale));
    fill(list, all.map((one) => h('li', null,
      h('button', { type: 'button', class: 'plain', onclick: () => talk(one.contact) }, h('span', { class: 'face', 'aria-hidden': 'true' }, [...one.called][0]), h('span', { class: 'name' }, shown(excerpt(one.called, 40))),
        one.called !== one.contact ? h('span', { class: 'help' }, ' ', shown(excerpt(one.contact, 40))) : null, h('span', { class: 'unseen' }, ', ', say('talk'))),
      h('button', { type: 'button', class: 'plain tool', onclick: () => remove(one.contact) }, sign('close', say('removeContact', excerpt(one.called, 40)))))));
    if (!all.length) list.replaceChildren(h('li', { class: 'help' }, say(contacts.length ? 'noSuchContact' : 'noContacts')));
    filter.hidden = contacts.length < 2;
  }

  return {
    name: say('people'),
    element: h('section', { class: 'page' }, h('header', { class: 'head' }, chat.back(), h('h1', { tabindex: -1 }, say('people'))),
      h('form', { class: 'card', onsubmit: (event) => { event.preventDefault(); if (user.value.trim()) talk(user.value.trim()); } },
        h('label', { for: 'user' }, say('user')), user, h('label', { for: 'name' }, say('contactName')), name, problem,
        h('div', { class: 'buttons' }, h('button', { type: 'submit', class: 'main' }, say('talk')), h('button', { type: 'button', onclick: keep }, say('keep')))),
      h('h2', null, say('contacts')), h('p', null, h('a', { href: '../mine/' }, say('mine'))), filter, list),
    show: load, people: load,
  };
}
