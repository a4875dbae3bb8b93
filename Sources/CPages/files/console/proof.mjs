// What this node holds, signed, and a receipt held against it.
import { h, fill } from '../shared/dom.mjs';
import { receipt, obstacle, Broken, hex } from '../shared/verify.mjs';
import { excerpt } from '../shared/text.mjs';
import { sentence, pinned } from './checking.mjs';
import './seldom.mjs';

export async function verify(ctx) {
  const { t } = ctx, box = h('div'), kept = h('div', { class: 'kept', role: 'status' });
  ctx.title(t('nav.verify'));
  ctx.commands('syncctl verify', 'syncctl receipt --out TODAY.receipt', 'syncctl verify --since OLD.receipt', ctx.curl(['receipt'], {}));
  const file = h('input', { type: 'file', id: 'receipt', onchange: () => hold(ctx, kept, file.files[0]) });
  const ids = h('textarea', { id: 'nodes', rows: 3, spellcheck: 'false', 'aria-describedby': 'nodes-help' }, pinned(ctx).join('\n'));
  fill(ctx.body, ctx.head(t('nav.verify')), box,
    h('section', null, h('h2', null, t('holdReceipt')), h('p', null, h('label', { for: 'receipt' }, t('receiptFile')), ' ', file), kept),
    h('section', null, h('h2', null, t('knownNodes')), h('p', { id: 'nodes-help', class: 'help' }, t('knownNodesHelp')), h('label', { for: 'nodes', class: 'unseen' }, t('knownNodes')), ids,
      h('p', null, h('button', { type: 'button', onclick: () => { ctx.keep('nodes', ids.value.trim()); verify(ctx); } }, t('keep')))),
    h('section', null, h('h2', null, t('whatItProves')), h('p', null, t('proves')), h('ul', null, ['proves.not.missing', 'proves.not.key', 'proves.not.true', 'proves.not.program'].map((key) => h('li', null, t(key))))));
  fill(box, await held(ctx, async () => (await ctx.text('/v1/receipt')).text));
}

/** The node's own word of what it holds, checked here. */
async function held(ctx, load) {
  const { t } = ctx, text = await load(), why = await obstacle();
  if (why) return h('p', { class: 'proof partly' }, '◐ ', t(`obstacle.${why}`));
  try {
    const found = await receipt(text), known = pinned(ctx), stranger = known.length && found.heads.find((head) => !known.includes(head.node));
    if (stranger) throw new Broken('pin');
    ctx.receipt = found;
    const all = found.heads.every((head) => head.size === head.events);
    return [
      h('p', { class: `proof ${all && found.isWhole ? 'proven' : 'partly'}`, role: 'status' }, h('strong', null, all && found.isWhole ? '✓ ' : '◐ ', all ? t('headsProven', found.heads.length) : t('headsPartly')), h('span', null, known.length ? t('pinnedKey') : t('notPinned'))),
      table(ctx, found),
    ];
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    return h('p', { class: 'proof broken', role: 'alert' }, '✗ ', sentence(ctx, error));
  }
}

function table(ctx, found) {
  const { t } = ctx;
  return h('table', { class: 'list' }, h('caption', null, t('headsOf', excerpt(found.maker.name, 40), ctx.when(found.maker.time))), h('thead', null, h('tr', null,
    [t('origin'), t('node'), t('events.head'), t('signedTo'), t('root'), t('heldBy')].map((head) => h('th', { scope: 'col' }, head)))),
  h('tbody', null, found.heads.map((head) => h('tr', null, h('th', { scope: 'row' }, h('code', { title: head.origin }, head.origin.slice(0, 13), '…')), h('td', null, h('code', { title: head.node }, head.node.slice(0, 8))),
    h('td', { class: 'number' }, ctx.number(head.events)), h('td', { class: 'number' }, ctx.number(head.size)), h('td', null, h('code', { title: hex(head.root) }, hex(head.root).slice(0, 12), '…')),
    h('td', null, head.witnesses.length ? head.witnesses.map((one) => h('p', null, h('code', { title: one.node }, one.node.slice(0, 8)), ' · ', t('upTo', ctx.number(one.size)), ' · ', ctx.when(one.time * 1000, 'short'))) : t('heldByNone'))))));
}

/** A receipt of another day against what the node says now. */
async function hold(ctx, box, file) {
  const { t } = ctx;
  if (!file) return fill(box);
  try {
    if (file.size > 64 << 20) throw new Broken('form');
    const old = await receipt(await file.text()), now = ctx.receipt;
    if (!now) return fill(box, h('p', { class: 'proof partly' }, '◐ ', t('noPresent')));
    const lines = old.heads.map((head) => {
      const present = now.heads.find((one) => one.origin === head.origin);
      if (!present) return ['broken', t('held.gone')];
      if (present.node !== head.node) return ['broken', t('broken.pin')];
      if (present.size < head.size) return ['broken', t('held.shorter', ctx.number(present.size), ctx.number(head.size))];
      if (present.size === head.size) return hex(present.root) === hex(head.root) ? ['proven', t('held.same')] : ['broken', t('held.other')];
      return ['partly', t('held.longer', ctx.number(head.size), ctx.number(present.size))];
    });
    const kinds = new Set(lines.map(([kind]) => kind)), sameCluster = old.maker.cluster === now.maker.cluster;
    fill(box, sameCluster ? null : h('p', { class: 'proof broken' }, '✗ ', t('otherCluster', excerpt(old.maker.cluster, 40))),
      h('p', null, t('receiptOf', excerpt(old.maker.name, 40), ctx.when(old.maker.time))),
      h('ul', { class: 'held' }, old.heads.map((head, at) => h('li', { class: `proof ${lines[at][0]}` }, { proven: '✓ ', partly: '◐ ', broken: '✗ ' }[lines[at][0]], h('code', null, head.origin.slice(0, 13), '…'), ' ', lines[at][1]))),
      kinds.has('partly') ? h('p', null, t('held.command'), ' ', h('code', null, `syncctl verify --since '${excerpt(file.name, 80)}'`)) : null);
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    fill(box, h('p', { class: 'proof broken' }, '✗ ', sentence(ctx, error)));
  }
}
