// The way in: a token becomes a cookie that no script can read.
import { h, fill } from './dom.mjs';
import { request } from './api.mjs';

/** A form for a token; `done` when it counts. `draw(remark)` shows it anew, as in the other language. */
export function loginForm(words, { icon, name, more, remark, done, draw }) {
  const { t } = words;
  const token = h('input', { id: 'token', type: 'password', name: 'token', required: true, autocomplete: 'off', spellcheck: 'false', 'aria-describedby': 'token-help' });
  const problem = h('p', { role: 'alert', class: 'problem' }, remark);
  const form = h('form', { class: 'card', onsubmit: async (event) => {
    event.preventDefault();
    fill(problem);
    try {
      await request('/v1/sessions', { method: 'POST', token: token.value.trim() });
      token.value = '';
      await done();
    } catch (error) { fill(problem, error.status === 401 ? t('wrongToken') : error.message); }
  } },
  h('h1', null, h('img', { src: icon, alt: '', width: 32, height: 32 }), ' ', name),
  h('label', { for: 'token' }, t('token')), token, h('p', { id: 'token-help', class: 'help' }, t('tokenHelp')), more,
  problem, h('button', { type: 'submit', class: 'main' }, t('login')),
  h('p', null, h('button', { type: 'button', class: 'inline', lang: words.other, onclick: () => { words.speak(); draw(remark); } }, words.otherName)));
  return { form, token };
}

/** Ends the session. */
export async function leave() {
  try { await request('/v1/sessions', { method: 'DELETE' }); } catch { /* it is over in any case */ }
}
