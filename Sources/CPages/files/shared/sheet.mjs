// A sheet above the page.
import { h, fill } from './dom.mjs';

/** Shows a sheet above the page; Esc and its button close it. */
export function dialog(title, t, ...content) {
  const sheet = h('dialog', { 'aria-labelledby': 'sheet-title', onclose: () => sheet.remove() },
    h('div', { class: 'sheet-head' }, h('h2', { id: 'sheet-title' }, title), h('button', { type: 'button', class: 'plain', onclick: () => sheet.close() }, t('close'))),
    h('div', { class: 'sheet', tabindex: 0 }, content));
  document.body.append(sheet);
  sheet.showModal();
  return { sheet, fill: (...more) => fill(sheet.querySelector('.sheet'), ...more) };
}
