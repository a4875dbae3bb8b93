// Single keys, as long as no field has the focus; they can be switched off.
import { h } from '../shared/dom.mjs';
import { dialog } from '../shared/sheet.mjs';
import { kept, keep } from '../shared/words.mjs';

/** Key, and the string that says what it does. */
const list = [
  ['/', 'key.search'], ['n / N', 'key.hit'], ['PgDn / PgUp', 'key.row'], ['[ / ]', 'key.change'], ['b', 'key.known'], ['0', 'key.now'],
  ['d / D', 'key.day'], ['e / E', 'key.edit'], ['w', 'key.why'], ['p', 'key.proof'], ['v', 'key.raw'], ['c', 'key.link'],
  ['g o, g c, g u, g s', 'key.go'], ['?', 'key.help'], ['Esc', 'key.close'],
];

const goes = { o: 'overview', c: 'conversations', u: 'users', s: 'search' };
let waits = false;

const isOff = () => kept('keys') === 'off';

export const keys = {
  listen(shown, go, t) {
    addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isOff()) return;
      if (event.target.closest?.('input, textarea, select, [contenteditable], dialog')) return;
      if (waits) {
        waits = false;
        if (goes[event.key]) { event.preventDefault(); go(goes[event.key]); }
        return;
      }
      if (event.key === 'g') { waits = true; setTimeout(() => { waits = false; }, 1_500); return; }
      if (event.key === '?') { event.preventDefault(); return this.help(t); }
      const ctx = shown();
      if (ctx?.keys?.[event.key]) { event.preventDefault(); return ctx.keys[event.key](event); }
      if (event.key === '/') {
        event.preventDefault();
        const field = document.querySelector('main input[type=search]');
        if (field) field.focus();
        else go('search');
      }
    });
  },

  help(t) {
    const off = h('input', { type: 'checkbox', id: 'keys-off', onchange: () => keep('keys', off.checked ? 'off' : 'on') });
    off.checked = isOff();
    dialog(t('keys'), t, h('table', null, h('thead', { class: 'unseen' }, h('tr', null, h('th', { scope: 'col' }, t('key')), h('th', { scope: 'col' }, t('action')))),
      h('tbody', null, list.map(([key, words]) => h('tr', null, h('th', { scope: 'row' }, h('kbd', null, key)), h('td', null, t(words)))))),
    h('p', null, off, ' ', h('label', { for: 'keys-off' }, t('keysOff'))));
  },
};
