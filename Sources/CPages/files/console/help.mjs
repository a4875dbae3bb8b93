// What keys do.
import { h } from '../shared/dom.mjs';
import { dialog } from '../shared/sheet.mjs';
import { keep } from '../shared/words.mjs';
import './seldom.mjs';

/** Key, and the string that says what it does. */
const list = [
  ['/', 'key.search'], ['n / N', 'key.hit'], ['PgDn / PgUp', 'key.row'], ['[ / ]', 'key.change'], ['b', 'key.known'], ['0', 'key.now'],
  ['d / D', 'key.day'], ['e / E', 'key.edit'], ['w', 'key.why'], ['p', 'key.proof'], ['v', 'key.raw'], ['c', 'key.link'],
  ['g o, g c, g u, g s', 'key.go'], ['?', 'key.help'], ['Esc', 'key.close'],
];

export function help(t, isOff) {
  const off = h('input', { type: 'checkbox', id: 'keys-off', onchange: () => keep('keys', off.checked ? 'off' : 'on') });
  off.checked = isOff;
  dialog(t('keys'), t, h('table', null, h('thead', { class: 'unseen' }, h('tr', null, h('th', { scope: 'col' }, t('key')), h('th', { scope: 'col' }, t('action')))),
    h('tbody', null, list.map(([key, words]) => h('tr', null, h('th', { scope: 'row' }, h('kbd', null, key)), h('td', null, t(words)))))),
  h('p', null, off, ' ', h('label', { for: 'keys-off' }, t('keysOff'))));
}
