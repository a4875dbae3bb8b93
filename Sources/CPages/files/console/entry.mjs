// The way in: a token, and of who is recorded a reason.
import { h, fill } from '../shared/dom.mjs';
import { network } from '../shared/api.mjs';
import { loginForm } from '../shared/login.mjs';

export function login(main, words, more) {
  const { form, token } = loginForm(words, {
    icon: 'seal.svg', name: 'Sillok', more: h('p', null, h('code', null, 'syncctl tokens create auditor/kim --role auditor')), ...more,
  });
  fill(main, form);
  token.focus();
}

export function askReason(main, t, done) {
  const reason = h('input', { id: 'reason', type: 'text', required: true, maxlength: 300, value: network.reason, 'aria-describedby': 'reason-help' });
  fill(main, h('form', { class: 'card', onsubmit: (event) => {
    event.preventDefault();
    network.reason = reason.value.trim();
    sessionStorage.setItem('sillok.reason', network.reason);
    if (network.reason) done();
  } }, h('h1', null, t('reasonTitle')), h('label', { for: 'reason' }, t('reason')), reason,
  h('p', { id: 'reason-help', class: 'help' }, t('reasonHelp')), h('button', { type: 'submit', class: 'main' }, t('goOn'))));
  reason.focus();
}
