// Tables that grow by pages.
import { h, fill, announce } from '../shared/dom.mjs';

/** A table that grows by pages. `draw(line)` makes the cells. */
export function paged(ctx, caption, heads, load, draw, nothing) {
  const { t } = ctx, body = h('tbody');
  const table = h('table', { class: 'list' }, h('caption', { class: 'unseen' }, caption), h('thead', null, h('tr', null, heads.map((head) =>
    h('th', { scope: 'col', class: head.isNumber ? 'number' : null }, head.text ?? head)))), body);
  const button = h('button', { type: 'button', class: 'more', hidden: true });
  const box = h('div', { class: 'paged' }, table, button);
  const more = async (cursor) => {
    button.disabled = true;
    let page;
    try { page = await load(cursor); } catch (error) {
      button.disabled = false;
      if (!cursor || error.name === 'AbortError') throw error;
      // What is there stays; it is asked for once more by the same button.
      button.textContent = `${error.message} · ${t('retry')}`;
      return announce(error.message);
    }
    for (const line of page.lines) body.append(h('tr', null, draw(line)));
    button.hidden = !page.end.next;
    button.disabled = false;
    button.textContent = t('more');
    button.onclick = () => more(page.end.next);
    if (body.firstChild) return;
    // A page may end early, even without a line.
    if (page.end.next) await more(page.end.next);
    else fill(box, nothing);
  };
  return { box, ready: more() };
}
