// Proofs of what is shown, computed in this browser.
import { h } from '../shared/dom.mjs';
import { answer, covers, obstacle, Broken } from '../shared/verify.mjs';
import { path } from '../shared/api.mjs';
import { dialog } from '../shared/sheet.mjs';
import { displayTime } from '../shared/rows.mjs';
import './seldom.mjs';

/** Nodes whose ids the viewer has compared with what was told another way. */
export function pinned(ctx) {
  return (ctx.kept('nodes') ?? '').split(/[\s,]+/).filter((word) => /^[0-9a-f]{64}$/.test(word));
}

/** Why something is not proven, as a sentence. */
export function sentence(ctx, error) {
  if (error instanceof Broken) return ctx.t(`broken.${error.code}`);
  return error.message;
}

/** Another key than those the viewer knows. */
function requirePinned(ctx, proven) {
  const known = pinned(ctx);
  if (known.length && proven.heads.some((head) => !known.includes(head.node))) throw new Broken('pin');
}

/** Checks every row of the window. */
export async function check(checker) {
  const { ctx, view } = checker, { t } = ctx, rows = view.shown();
  const why = await obstacle();
  if (why) return checker.tell({ kind: 'partly', text: t(`obstacle.${why}`) });
  try {
    const proven = await proofs(checker, rows);
    let broken = null, count = 0;
    checker.marks.clear();
    for (const row of rows) {
      const error = covers(proven, row);
      if (!error) { count += 1; checker.marks.set(row.key, { kind: 'proven', text: t('provenHere') }); continue; }
      const isMissing = error.code === 'absent';
      checker.marks.set(row.key, { kind: isMissing ? 'partly' : 'broken', text: sentence(ctx, error) });
      if (!isMissing) broken ??= { error, row };
    }
    view.window.keep(() => view.window.redraw());
    checker.isChecking = false;
    if (broken) return checker.tell({ kind: 'broken', text: sentence(ctx, broken.error), event: broken.row.id });
    const names = proven.heads.map((head) => head.node.slice(0, 8)), others = [...new Set(proven.heads.flatMap((head) => head.witnesses.map((one) => one.node.slice(0, 8))))];
    const more = [t('signedBy', [...new Set(names)].join(', ')), others.length ? t('alsoHeldBy', others.join(', ')) : null, pinned(ctx).length ? null : t('notPinned')].filter(Boolean).join(' · ');
    if (count < rows.length) checker.tell({ kind: 'partly', text: t('partlyProven', count, rows.length), more });
    else checker.tell({ kind: 'proven', text: t('allProven', count), more });
  } catch (error) {
    checker.isChecking = false;
    if (error.name === 'AbortError') return;
    checker.tell({ kind: error instanceof Broken ? 'broken' : 'partly', text: sentence(ctx, error), event: error.event });
  }
}

/** Proven answers of all rows, and of edits that stand elsewhere. */
async function proofs({ ctx, view }, rows) {
  const all = { events: new Map(), ids: new Map(), broken: new Map(), heads: [] };
  const take = async (text) => {
    const proven = await answer(text);
    requirePinned(ctx, proven);
    for (const name of ['events', 'ids', 'broken']) for (const [key, one] of proven[name]) all[name].set(key, one);
    all.heads.push(...proven.heads);
  };
  const times = rows.map(displayTime);
  let next = path(view.proofs, { ...view.filters, order: 'oldest', limit: 500, since: new Date(Math.min(...times)).toISOString(), until: new Date(Math.max(...times) + 1).toISOString() });
  while (next) {
    const page = await ctx.text(next);
    await take(page.text);
    next = /^<([^>]+)>; rel="next"$/.exec(page.next ?? '')?.[1];
  }
  const elsewhere = new Set(rows.flatMap((row) => [...row.edits, ...row.corrections, row.retracted, ...row.retractions].filter(Boolean).map((one) => one.id)).filter((id) => !all.ids.has(id)));
  for (const id of [...elsewhere].slice(0, 100)) await take((await ctx.text(path(['events', id, 'proof']))).text);
  return all;
}

export function limits(ctx) {
  const { t } = ctx;
  dialog(t('whatItProves'), t, h('p', null, t('proves')), h('ul', null, ['proves.not.missing', 'proves.not.key', 'proves.not.true', 'proves.not.program'].map((key) => h('li', null, t(key)))));
}

/** Everything that proves one event. */
export async function prove(ctx, row, put) {
  const { t } = ctx;
  try {
    const why = await obstacle();
    if (why) return put(h('p', { class: 'proof partly' }, '◐ ', t(`obstacle.${why}`)));
    const proven = await answer((await ctx.text(path(['events', row.id, 'proof']))).text);
    requirePinned(ctx, proven);
    const own = proven.events.get(row.key), error = covers(proven, { ...row, edits: [], corrections: [], retracted: null, retractions: [], text: row.first });
    if (!own || error) return put(h('p', { class: 'proof broken' }, '✗ ', sentence(ctx, error ?? new Broken('absent'))));
    const head = own.head, facts = [
      [t('event'), own.header.id], [t('type'), own.header.type], [t('author'), own.header.author], ['origin', own.header.origin], ['seq', String(own.header.seq)],
      [t('signedBy', ''), head.node], [t('headSize'), ctx.number(head.size)], [t('root'), btoa(String.fromCharCode(...head.root))], [t('path'), String(own.line.proof.length)],
    ];
    put(h('p', { class: 'proof proven' }, h('strong', null, '✓ ', t('provenHere'))),
      h('dl', null, facts.map(([name, value]) => [h('dt', null, name), h('dd', null, h('code', null, value))])),
      h('h3', null, t('heldBy')), head.witnesses.length ? h('ul', null, head.witnesses.map((one) => h('li', null, h('code', null, one.node), ' · ', t('upTo', ctx.number(one.size)), ' · ', ctx.when(one.time * 1000)))) : h('p', null, t('heldByNone')),
      h('p', { class: 'help' }, pinned(ctx).length ? t('pinnedKey') : t('notPinned')),
      h('p', null, h('code', null, `syncctl show ${row.id} --proof > event.proof && syncctl check-proof event.proof`)));
  } catch (error) { put(h('p', { class: 'proof broken' }, error instanceof Broken ? '✗ ' : null, sentence(ctx, error))); }
}
