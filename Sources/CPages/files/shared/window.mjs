// A list of which a window is in the document: at most so many real rows, more of them when the reader comes near an end. The row that is in
// view stays where it is.
import { h, fill } from './dom.mjs';

/** How rows are loaded for a window: `ask(parameters)` gives a page of lines, `row` makes a row of one. */
export function loader(ask, row) {
  return async (end, from, limit) => {
    const time = from?.time !== undefined && from.time !== null ? new Date(from.time).toISOString() : null;
    const rows = [];
    let next = from?.cursor;
    // A page may end early, even without a row.
    do {
      const found = await ask({ limit, order: end === 'older' ? 'newest' : 'oldest', cursor: next, [end === 'older' ? 'until' : 'since']: time });
      rows.push(...found.lines.map(row));
      next = found.end.next;
    } while (next && rows.length < limit / 4);
    return { rows, next: next ?? null };
  };
}

const most = 600, page = 100, near = 800;

export class RowWindow {
  /**
   * `load(end, from, limit)` gives `{ rows, next }`: those before (`end` is 'older') or after a place; `from` is a time, a cursor or null for
   * the end of all. `draw(row)` makes an element, `time(row)` says by what the server sorts and finds a row. `changed(rows)` is told of new ones.
   */
  constructor({ load, draw, time, changed, words }) {
    Object.assign(this, { load, draw, time, changed, words, rows: [], nodes: new Map(), older: null, newer: null, isBusy: false });
    this.top = h('button', { type: 'button', class: 'more', onclick: () => this.more('older') });
    this.bottom = h('button', { type: 'button', class: 'more', onclick: () => this.more('newer') });
    this.feed = h('div', { role: 'feed', class: 'rows' });
    this.element = h('div', { class: 'window' }, this.top, this.feed, this.bottom);
    this.scrolled = () => {
      const box = this.feed.getBoundingClientRect();
      if (box.top > -near && this.older && this.isScrolled) this.more('older');
      else if (box.bottom < innerHeight + near && this.newer && this.isScrolled) this.more('newer');
    };
  }

  start(signal) {
    addEventListener('scroll', () => { this.isScrolled = true; this.scrolled(); }, { passive: true, signal });
  }

  /** Shows the end of all, or what stands around a time. */
  async show(time) {
    this.generation = (this.generation ?? 0) + 1;
    const mine = this.generation;
    this.feed.setAttribute('aria-busy', 'true');
    const before = await this.load('older', time === null ? null : { time }, time === null ? page : page / 2);
    const after = time === null ? { rows: [], next: null } : await this.load('newer', { time }, page / 2);
    if (mine !== this.generation) return;
    this.rows = [...before.rows.reverse(), ...after.rows];
    this.older = before.next && { cursor: before.next, time };
    this.newer = after.next && { cursor: after.next, time };
    await this.changed?.(this.rows);
    if (mine !== this.generation) return;
    this.redraw();
    this.feed.setAttribute('aria-busy', 'false');
  }

  /** Draws all rows anew. */
  redraw() {
    const held = document.activeElement?.closest?.('article')?.dataset.key;
    this.nodes.clear();
    fill(this.feed, this.rows.map((row, at) => this.node(row, this.rows[at - 1])));
    if (held) this.nodes.get(held)?.focus({ preventScroll: true });
    this.ends();
  }

  /** The element of a row that is in the window. */
  find(id) { return this.nodes.get(this.rows.find((row) => row.id === id)?.key); }

  /** Puts a row where it belongs: in place of the one that it is, or between others; `compare(a, b)` says which comes first. It says whether
   * it is shown now. What comes behind the end of the window is not, as long as more lies between. */
  put(row, compare) {
    const at = this.rows.findIndex((one) => one.id === row.id);
    if (at >= 0) {
      this.nodes.delete(this.rows[at].key);
      const old = this.feed.children[at], had = old.contains(document.activeElement);
      this.rows[at] = row;
      const fresh = this.node(row, this.rows[at - 1]);
      old.replaceWith(fresh);
      if (had) fresh.focus({ preventScroll: true });
      return true;
    }
    let place = this.rows.length;
    while (place > 0 && compare(row, this.rows[place - 1]) < 0) place -= 1;
    if (place === this.rows.length && this.newer || place === 0 && this.older) return false;
    if (place === this.rows.length) { this.append([row]); this.ends(); return true; }
    this.rows.splice(place, 0, row);
    this.feed.children[place].before(this.node(row, this.rows[place - 1]));
    this.update(this.rows[place + 1].id);
    return true;
  }

  /** Draws one row anew. */
  update(id) {
    const at = this.rows.findIndex((row) => row.id === id), old = this.nodes.get(this.rows[at]?.key);
    if (!old) return;
    const had = old.contains(document.activeElement);
    const fresh = this.node(this.rows[at], this.rows[at - 1]);
    old.replaceWith(fresh);
    if (had) fresh.focus({ preventScroll: true });
  }

  node(row, before) {
    const node = this.draw(row, before);
    this.nodes.set(row.key, node);
    return node;
  }

  ends() {
    for (const [button, place, words] of [[this.top, this.older, this.words.older], [this.bottom, this.newer, this.words.newer]]) {
      button.textContent = place ? words : button === this.top ? this.words.begin : this.words.end;
      button.disabled = !place;
    }
  }

  async more(end) {
    const from = this[end];
    if (!from || this.isBusy) return;
    this.isBusy = true;
    this.feed.setAttribute('aria-busy', 'true');
    const mine = this.generation;
    try {
      const found = await this.next(end, from);
      if (mine !== this.generation) return;
      this[end] = found.place;
      const rows = end === 'older' ? found.rows.reverse() : found.rows;
      await this.changed?.(rows);
      if (mine !== this.generation) return;
      this.keep(() => end === 'older' ? this.prepend(rows) : this.append(rows));
    } finally {
      this.isBusy = false;
      this.feed.setAttribute('aria-busy', 'false');
    }
  }

  /** Changes rows; what was in view stays there. */
  keep(change) {
    const seen = [...this.feed.children].find((node) => node.getBoundingClientRect().bottom > 120);
    const key = seen?.dataset.key, was = seen?.getBoundingClientRect().top;
    change();
    this.ends();
    const now = this.nodes.get(key);
    if (now?.isConnected) scrollBy(0, now.getBoundingClientRect().top - was);
  }

  prepend(rows) {
    const first = this.rows[0];
    this.rows = [...rows, ...this.rows];
    this.feed.prepend(...rows.map((row, at) => this.node(row, rows[at - 1])));
    // The one below may have had the heading of its day.
    if (first) this.update(first.id);
    const dropped = this.rows.splice(most);
    for (const row of dropped) this.drop(row);
    // By its time a row is found again; of several with one time those that stand here are passed over.
    if (dropped.length) this.newer = { time: this.time(this.rows.at(-1)), past: this.rows.at(-1).key };
  }

  append(rows) {
    const last = this.rows.at(-1);
    this.feed.append(...rows.map((row, at) => this.node(row, rows[at - 1] ?? last)));
    this.rows = [...this.rows, ...rows];
    const dropped = this.rows.splice(0, Math.max(0, this.rows.length - most));
    for (const row of dropped) this.drop(row);
    if (!dropped.length) return;
    this.older = { time: this.time(this.rows[0]) + 1, past: this.rows[0].key };
    this.update(this.rows[0].id);
  }

  /** The next rows in a direction, behind the one that is to be passed. */
  async next(end, from) {
    for (;;) {
      const { rows, next } = await this.load(end, from, page);
      const at = from.past ? rows.findIndex((row) => row.key === from.past) : -1;
      const found = from.past && at < 0 ? [] : rows.slice(at + 1), place = next && { ...from, cursor: next, past: at < 0 ? from.past : null };
      if (found.length || !place) return { rows: found, place };
      from = place;
    }
  }

  drop(row) {
    this.nodes.get(row.key)?.remove();
    this.nodes.delete(row.key);
  }
}
