// What a user seldom wants: contacts from an address book, all others who are here, and the end of all that is theirs.
import { h, fill, announce } from '../shared/dom.mjs';
import { lines, object, path, request } from '../shared/api.mjs';
import { loginForm } from '../shared/login.mjs';
import { shown } from '../shared/prose.mjs';
import { excerpt } from '../shared/text.mjs';
import { Words, dress } from '../shared/words.mjs';
import { strings } from './strings.mjs';
import { cards } from './vcard.mjs';

const words = new Words(strings), say = words.t;
const root = document.getElementById('app');
const longest = 20_000_000;
const mine = { me: '', may: [], contacts: [] };

/** Says why something did not come about, where the user looks. */
const safely = (problem, body) => async (...values) => {
  fill(problem);
  try { await body(...values); } catch (error) {
    if (error.status === 401) return login();
    fill(problem, error.status === 0 ? say('unreachable') : error.message);
  }
};

const alert = () => h('p', { role: 'alert', class: 'problem' });

async function contacts() {
  mine.contacts = [];
  let cursor;
  do {
    const page = await lines(['users', mine.me, 'contacts'], { limit: 500, cursor });
    mine.contacts.push(...page.lines);
    cursor = page.end.more ? page.end.next : null;
  } while (cursor);
}

const keep = (contact, more) => request(path(['users', mine.me, 'contacts', contact]), { method: 'PUT', body: more });

// MARK: An address book

function book() {
  const problem = alert(), found = h('div', { role: 'status' });
  const file = h('input', { type: 'file', id: 'file', accept: '.vcf,text/vcard,text/x-vcard' });
  const offer = (all) => {
    const known = new Set(mine.contacts.map((one) => JSON.stringify([one.contact, one.name, one.phone_number])));
    const fresh = all.filter((one) => !known.has(JSON.stringify([one.contact, one.name, one.phoneNumber])));
    if (!all.length) return fill(found, h('p', null, say('noCards')));
    const add = safely(problem, async () => {
      let count = 0;
      try {
        for (const { contact, ...more } of fresh) {
          await keep(contact, { ...more, source: 'addressbook' });
          count += 1;
        }
      } finally {
        await contacts();
        fill(found, h('p', null, say('added', count)));
      }
    });
    fill(found, h('p', null, say('found', all.length, all.length - fresh.length)), fresh.length ? h('p', null, h('button', { type: 'button', class: 'main', id: 'add', onclick: add }, say('add', fresh.length))) : null);
  };
  file.addEventListener('change', safely(problem, async () => {
    const chosen = file.files[0];
    fill(found);
    if (!chosen) return;
    if (chosen.size > longest) fill(problem, say('tooLarge'));
    else offer(cards(await chosen.text()));
    // The same file may be chosen again.
    file.value = '';
  }));
  // The address book of a phone, where its browser lets pages ask for one.
  const device = navigator.contacts?.select ? h('button', { type: 'button', onclick: safely(problem, async () => {
    let chosen;
    try { chosen = await navigator.contacts.select(['name', 'tel'], { multiple: true }); } catch { return fill(problem, say('denied')); }
    offer(cards(chosen.map((one) => ['BEGIN:VCARD', `FN:${one.name?.[0] ?? ''}`, ...(one.tel ?? []).map((tel) => `TEL:${tel}`), 'END:VCARD'].join('\n')).join('\n')));
  }) }, say('device')) : null;
  return h('section', { class: 'card' }, h('h2', null, say('book')), h('p', { class: 'help' }, say('bookHelp')), h('label', { for: 'file' }, say('file')), file, device, problem, found);
}

// MARK: All others

function others() {
  if (!mine.may.includes('list_users')) return null;
  const problem = alert(), list = h('ul', { id: 'others' }), more = h('button', { type: 'button', hidden: true }, say('more'));
  let cursor;
  const next = safely(problem, async () => {
    const page = await lines(['users'], { limit: 100, cursor });
    cursor = page.end.next;
    more.hidden = !page.end.more;
    for (const { user, name } of page.lines) {
      const end = h('span', null), known = () => fill(end, h('span', { class: 'help' }, say('kept')));
      if (mine.contacts.some((one) => one.contact === user)) known();
      else fill(end, h('button', { type: 'button', onclick: safely(problem, async () => { await keep(user, {}); await contacts(); known(); }) }, say('keep', excerpt(name, 40))));
      list.append(h('li', null, h('span', null, shown(excerpt(name, 40)), ' ', h('span', { class: 'help' }, shown(excerpt(user, 40)))), end));
    }
    if (!list.firstChild) list.append(h('li', { class: 'help' }, say('noOthers')));
  });
  more.addEventListener('click', next);
  next();
  return h('section', { class: 'card' }, h('h2', null, say('others')), h('p', { class: 'help' }, say('othersHelp')), problem, list, more);
}

// MARK: Erasing

function erasing() {
  const problem = alert(), plan = h('div', { role: 'status' }), place = ['users', mine.me, 'erasure'];
  const look = safely(problem, async () => {
    const { lines: parts, end } = await lines(place, {}, { method: 'POST', body: { dry_run: true } });
    const count = parts.filter((one) => ['own', 'authored'].includes(one.part)).reduce((sum, one) => sum + one.count, 0);
    if (!count) return fill(plan, h('p', null, say('eraseNone')));
    const name = h('input', { type: 'text', id: 'name', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off', maxlength: 256 });
    const erase = safely(problem, async () => {
      if (name.value.trim() !== mine.me) return fill(problem, say('eraseOther'));
      await request(path(place), { method: 'POST', body: { plan: end.plan } });
      fill(plan, h('p', null, say('eraseDone')));
      announce(say('eraseDone'));
    });
    fill(plan, h('form', { class: 'rows', onsubmit: (event) => { event.preventDefault(); erase(); } }, h('p', null, h('label', { for: 'name' }, say('eraseAsk', count))), h('p', null, name, ' ', h('button', { type: 'submit', id: 'erase' }, say('eraseDo')))));
    name.focus();
  });
  const may = mine.may.includes('erase_own');
  return h('section', { class: 'card' }, h('h2', null, say('erase')), h('p', { class: 'help' }, say(may ? 'eraseHelp' : 'eraseNot')),
    may ? h('button', { type: 'button', id: 'look', onclick: look }, say('eraseLook')) : null, problem, plan);
}

// MARK: Coming in

function show() {
  document.title = say('app');
  fill(root, h('main', { class: 'mine' },
    h('header', { class: 'top' }, h('h1', { tabindex: -1 }, say('app')), h('span', null, h('a', { href: '../chat/' }, say('chat')), ' ',
      h('button', { type: 'button', class: 'inline', lang: words.other, onclick: () => { words.speak(); show(); } }, words.otherName))),
    h('p', { class: 'help' }, say('signedInAs', mine.me)), book(), others(), erasing()));
  root.querySelector('h1').focus();
}

function login(remark) {
  document.title = say('app');
  const { form, token } = loginForm(words, { icon: '../chat/chat.svg', name: say('app'), more: null, remark, done: begin, draw: login });
  fill(root, h('main', { class: 'alone' }, form));
  token.focus();
}

async function begin() {
  try {
    const caller = await object(['me']), role = caller.roles.find((one) => one.startsWith('user:'));
    if (!role) return login(say('noUser'));
    Object.assign(mine, { me: role.slice(5), may: caller.may ?? [] });
    await contacts();
    show();
  } catch (error) { login(error.status === 401 ? undefined : error.message); }
}

dress();
begin();
