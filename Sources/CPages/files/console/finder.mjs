// Words in a conversation: where they stand, and from one to the next.
import { announce, fill } from '../shared/dom.mjs';
import { displayTime } from '../shared/rows.mjs';

/** Where a text has words, whatever their case; of texts whose length changes with it nothing is marked. */
function places(text, wanted) {
  const low = text.toLowerCase(), word = wanted.toLowerCase(), found = [];
  if (low.length !== text.length) return found;
  for (let at = low.indexOf(word); at >= 0 && found.length < 200; at = low.indexOf(word, at + word.length)) found.push([at, at + word.length]);
  return found;
}

/** Finds words: with the node's search where it has one, else in what is loaded. */
export async function find(view, text, goes) {
  const { ctx } = view, { t } = ctx, wanted = text.normalize('NFC').trim();
  ctx.note({ q: wanted || null });
  view.hits = [];
  view.ranges.clear();
  view.hit = -1;
  view.isWhole = false;
  if (wanted && ctx.can('search') && view.scope.conversation) {
    let cursor;
    do {
      const page = await ctx.lines(['search'], { q: wanted, conversation: view.scope.conversation, limit: 100, cursor });
      for (const hit of page.lines) view.hits.push({ id: hit.event.id, text: hit.text, ranges: hit.ranges.map((one) => one.utf16), time: Date.parse(hit.time) });
      cursor = page.end.next;
    } while (cursor && view.hits.length < 1_000);
    view.isWhole = !cursor;
    view.hits.reverse();
  } else if (wanted) {
    for (const row of view.window.rows) {
      const ranges = row.isMessage && !row.isErased && !row.retracted ? places(row.text ?? '', wanted) : [];
      if (ranges.length) view.hits.push({ id: row.id, text: row.text, ranges, time: displayTime(row) });
    }
  }
  for (const hit of view.hits) {
    const row = view.byID().get(hit.id);
    if (!row || row.text === hit.text) view.ranges.set(hit.id, hit.ranges);
  }
  if (view.hits.length && goes) {
    const top = view.window.rows.find((row) => view.window.nodes.get(row.key)?.getBoundingClientRect().bottom > 0);
    view.hit = Math.max(0, view.hits.findIndex((one) => one.time >= (top ? displayTime(top) : 0))) - 1;
  }
  if (!goes) view.hit = view.hits.findIndex((one) => one.id === ctx.query.get('at'));
  view.window.redraw();
  drawCount(view);
  if (view.hits.length && goes) await walk(view, 1);
  else if (wanted) announce(t('noHits'));
}

function drawCount(view) {
  const { t } = view.ctx, all = view.hits.length;
  fill(view.count, view.field.value.trim() ? all ? view.hit < 0 ? t('hits', all) : t('hitOf', all, view.hit + 1) : t('noHits') : '');
  view.count.title = view.ctx.can('search') && view.scope.conversation ? '' : t('inWindow');
}

export async function walk(view, by) {
  if (!view.hits.length) return;
  const old = view.hits[view.hit]?.id;
  view.hit = (view.hit + by + view.hits.length) % view.hits.length;
  const { id } = view.hits[view.hit];
  await view.jump(id);
  for (const one of [old, id]) if (one) view.window.update(one);
  view.focus(id);
  drawCount(view);
}
