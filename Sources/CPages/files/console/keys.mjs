// Single keys, as long as no field has the focus; they can be switched off.
import { later } from '../shared/api.mjs';
import { announce } from '../shared/dom.mjs';
import { kept } from '../shared/words.mjs';

const goes = { o: 'overview', c: 'conversations', u: 'users', s: 'search' };
const help = later(() => import('./help.mjs'));
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

  async help(t) {
    try { (await help()).help(t, isOff()); } catch { announce(t('unreachable')); }
  },
};
