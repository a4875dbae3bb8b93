// What is proven of the rows that are shown. What computes it is loaded when it is asked for.
import { h, fill } from '../shared/dom.mjs';
import { later } from '../shared/api.mjs';
import { dialog } from '../shared/sheet.mjs';

const checking = later(() => import('./checking.mjs'));

export class Checker {
  constructor(ctx, view) {
    Object.assign(this, { ctx, view, marks: new Map(), told: null });
  }

  mark(key) { return this.marks.get(key); }

  /** Other rows are shown. */
  forget() {
    this.marks.clear();
    this.told = null;
  }

  /** The line above the rows. */
  drawStatus(box) {
    const { ctx } = this, { t } = ctx;
    if (!this.view.proofs || !ctx.can('listProofs')) return fill(box);
    const button = h('button', { type: 'button', class: 'inline', onclick: () => this.check() }, t('checkHere'));
    // What was loaded since was not checked.
    const rows = this.view.shown(), done = rows.filter((row) => this.marks.get(row.key)?.kind === 'proven').length;
    if (this.told?.kind === 'proven' && done < rows.length) this.told = { ...this.told, kind: 'partly', text: t('partlyProven', done, rows.length) };
    if (!this.told) return fill(box, h('div', { class: 'proof none' }, h('span', null, t('notChecked')), button));
    fill(box, h('div', { class: `proof ${this.told.kind}`, role: 'status' },
      h('strong', null, { proven: '✓ ', partly: '◐ ', broken: '✗ ' }[this.told.kind], this.told.text), this.told.more ? h('span', null, this.told.more) : null,
      this.told.event ? h('a', { href: ctx.permalink(this.told.event), onclick: (event) => { event.preventDefault(); ctx.focusRow(this.told.event); } }, t('toTheEvent')) : null,
      this.told.kind === 'partly' && !this.isChecking ? button : null,
      h('button', { type: 'button', class: 'inline', onclick: async () => { try { (await checking()).limits(ctx); } catch { this.tell({ kind: 'partly', text: t('unreachable') }); } } }, t('whatItProves'))));
  }

  tell(told) {
    this.told = told;
    this.drawStatus(this.view.status);
  }

  /** Checks every row of the window. */
  async check() {
    const { t } = this.ctx;
    if (this.isChecking) return;
    this.isChecking = true;
    this.tell({ kind: 'partly', text: t('checking') });
    try { await (await checking()).check(this); } catch { this.tell({ kind: 'partly', text: t('unreachable') }); }
    this.isChecking = false;
    this.drawStatus(this.view.status);
  }
}

/** Everything that proves one event. */
export async function proofSheet(ctx, row) {
  const { t } = ctx;
  if (!ctx.can('getProof')) return;
  const { fill: put } = dialog(t('proof'), t, h('p', null, t('checking')));
  try { await (await checking()).prove(ctx, row, put); } catch { put(h('p', { class: 'proof broken' }, t('unreachable'))); }
}
