// A conversation, as it is or as it stood at another moment.
import { h, fill } from '../shared/dom.mjs';
import { later } from '../shared/api.mjs';
import { row as rowOf, displayTime } from '../shared/rows.mjs';
import { loader, RowWindow } from '../shared/window.mjs';
import { bars } from '../shared/chart.mjs';
import { excerpt } from '../shared/text.mjs';
import { compare, moments } from './moments.mjs';
import { article } from './rowview.mjs';
import { shown } from '../shared/prose.mjs';
import { dialog } from '../shared/sheet.mjs';
import { quoted } from './app.mjs';
import { Checker, proofSheet } from './checker.mjs';

const finder = later(() => import('./finder.mjs'));
const iso = (ms) => new Date(ms).toISOString();

export async function conversation(ctx) {
  const [id] = ctx.args, { t, query } = ctx;
  const found = await ctx.lines(['conversations', id], { limit: 500 });
  const summary = found.lines.find((line) => line.type === 'conversation');
  const people = found.lines.filter((line) => line.type === 'participant');
  ctx.title(summary.title ?? id);
  ctx.commands(`syncctl conversation ${quoted(id)} --full`, ctx.curl(['conversations', id, 'rows'], { order: 'oldest' }));
  fill(ctx.body, ctx.head(shown(excerpt(summary.title ?? id, 120))),
    h('p', { class: 'facts' }, h('code', null, shown(excerpt(id, 60))), h('span', null, t('takePart'), ' ', people.slice(0, 12).map((one, at) => [at ? ', ' : '', h('a', { href: ctx.link(['u', one.user]) }, shown(excerpt(one.user, 40)))]), people.length > 12 ? ` +${people.length - 12}` : null),
      h('span', null, t('events', summary.version)), h('span', null, t('messages', summary.messages))));
  const view = new TimelineView(ctx, { parts: ['conversations', id, 'rows'], proofs: ['conversations', id, 'proof'], scope: { conversation: id } });
  await view.show();
}

/** Rows with their tools: search, another moment, proof, keys. Of a conversation, or of a user. */
export class TimelineView {
  constructor(ctx, { parts, proofs, scope, filters = {}, drawMore }) {
    Object.assign(this, { ctx, parts, proofs, scope, filters, drawMore });
    const { t, query } = ctx;
    this.clock = query.has('as_of') ? 'happened' : 'known';
    this.at = query.get('known') ? Number(query.get('known')) : query.get('as_of') ? Date.parse(query.get('as_of')) : null;
    if (Number.isNaN(this.at)) this.at = null;
    this.then = new Map();
    this.state = new Map();
    this.revealed = new Set();
    this.opened = new Set();
    this.ranges = new Map();
    this.hits = [];
    this.hit = -1;
    this.checker = new Checker(ctx, this);
    this.window = new RowWindow({
      words: { older: t('older'), newer: t('newer'), begin: t('begin'), end: t('end') },
      time: displayTime, load: loader((more) => this.ctx.lines(this.parts, { ...this.filters, ...more }), rowOf),
      changed: (rows) => this.compare(rows), draw: (row, before) => this.draw(row, before),
    });
    ctx.permalink = (id) => ctx.link(this.scope.user ? ['u', this.scope.user] : ['c', this.scope.conversation], { at: id, known: this.clock === 'known' ? this.at : null });
    ctx.reveal = (id) => { this.revealed.add(id); this.window.update(id); };
    ctx.open = (id) => { this.opened.add(id); this.window.update(id); };
    ctx.focusRow = (id) => this.jump(id);
    ctx.keys = this.keys();
  }

  async show() {
    const { ctx } = this, { t, query } = ctx;
    this.banner = h('div', { class: 'banner', role: 'status', hidden: true });
    this.status = h('div', { class: 'status' });
    this.rail = h('div', { class: 'rail' });
    this.searching = h('form', { class: 'find', role: 'search', onsubmit: (event) => { event.preventDefault(); this.find(this.field.value); } },
      this.field = h('input', { type: 'search', name: 'q', 'aria-label': t('findHere'), placeholder: t('findHere'), value: query.get('q') ?? '' }),
      this.count = h('span', { class: 'count', role: 'status' }),
      h('button', { type: 'button', class: 'plain', 'aria-label': t('previousHit'), onclick: () => this.walk(-1) }, '↑'),
      h('button', { type: 'button', class: 'plain', 'aria-label': t('nextHit'), onclick: () => this.walk(1) }, '↓'));
    ctx.body.append(this.status, h('div', { class: 'tools' }, this.searching, this.rail, this.banner), this.window.element);
    this.window.start(ctx.signal);
    const target = query.get('at');
    let time = null;
    if (target) {
      try {
        const [line] = (await ctx.lines(['events', target], {})).lines;
        time = displayTime(rowOf({ event: line }));
      } catch (error) { if (error.status !== 404) throw error; }
    }
    await this.window.show(time);
    this.drawTools();
    if (target) { ctx.keepsFocus = true; this.focus(target); } else if (!this.scope.user) scrollTo(0, document.documentElement.scrollHeight);
    if (this.field.value) await this.find(this.field.value, !target);
  }

  /** What rows were at the moment that is looked at. */
  async compare(rows) {
    this.drawSoon();
    if (this.at === null || !rows.length) return;
    const times = rows.map(displayTime), then = [];
    const range = { ...this.filters, order: 'oldest', since: iso(Math.min(...times)), until: iso(Math.max(...times) + 1), limit: 500,
      ...(this.clock === 'known' ? { known_at: this.at } : { as_of: iso(this.at) }) };
    let cursor;
    do {
      const page = await this.ctx.lines(this.parts, { ...range, cursor });
      then.push(...page.lines.map(rowOf));
      cursor = page.end.next;
    } while (cursor);
    for (const one of compare(rows, then)) this.state.set(one.now?.id ?? one.row.id, one);
  }

  async moveTo(at, clock = this.clock) {
    if (at === this.at && clock === this.clock) return;
    [this.at, this.clock] = [at, clock];
    this.ctx.note({ known: clock === 'known' ? at : null, as_of: clock === 'happened' && at !== null ? iso(at) : null });
    this.state.clear();
    this.checker.forget();
    const mine = this.moving = {};
    await this.compare(this.window.rows);
    if (mine !== this.moving) return;
    this.window.keep(() => this.window.redraw());
    this.drawTools();
  }

  /** Rows as they are shown now, without those that were not there yet. */
  shown() {
    return this.window.rows.map((row) => this.state.get(row.id)).map((found, at) => found ? found.state === 'later' ? null : found.row : this.window.rows[at]).filter(Boolean);
  }

  // MARK: Drawing

  draw(row, before) {
    const { ctx } = this, found = this.state.get(row.id);
    const day = ctx.when(row.time, 'day');
    const model = (one) => one?.isBot && JSON.stringify([one.event.data?.model, one.event.data?.persona]);
    const lastBot = this.lastBot(row);
    const node = article(ctx, found?.row ?? row, {
      state: found?.state, now: found?.now, day: !before || ctx.when(before.time, 'day') !== day ? day : null,
      ranges: this.ranges.get(row.id), isHit: this.hits[this.hit]?.id === row.id, byID: this.byID(), isNext: before?.id === row.cause,
      revealed: this.revealed.has(row.id), isOpen: this.opened.has(row.id), key: row.key, proof: found?.state === 'later' ? null : this.checker.mark((found?.row ?? row).key),
      isModelNew: !lastBot || model(lastBot) !== model(row) || row.event.data?.duration_ms > 5_000,
      isImported: this.isImported,
    });
    this.drawMore?.(node, row, before);
    return node;
  }

  byID() {
    if (this.known !== this.window.rows) {
      this.known = this.window.rows;
      this.index = new Map(this.known.map((row) => [row.id, row]));
      this.bots = new Map();
      let last = null;
      for (const row of this.known) { this.bots.set(row.id, last); if (row.isBot && row.isMessage) last = row; }
      // What is recorded long after it was said, all of it, was imported: that is no news of each row.
      this.isImported = this.known.length > 0 && this.known.filter((row) => row.recorded - Date.parse(row.time) > 3_600_000).length > this.known.length * 0.8;
    }
    return this.index;
  }

  lastBot(row) { this.byID(); return this.bots.get(row.id); }

  drawSoon() {
    clearTimeout(this.later);
    this.later = setTimeout(() => { if (!this.ctx.signal.aborted && this.rail) this.drawTools(); }, 0);
  }

  drawTools() {
    this.checker.drawStatus(this.status);
    this.drawRail();
    this.drawBanner();
  }

  drawRail() {
    const { ctx } = this, { t } = ctx, had = this.rail.contains(document.activeElement) ? document.activeElement.dataset.tool : null;
    this.moments = moments(this.window.rows, this.clock);
    const list = this.moments, last = list.length;
    if (!last) return fill(this.rail);
    // The place behind the last moment is now.
    const place = this.at === null ? last : list.filter((one) => one.at <= this.at).length;
    const spread = Array.from({ length: Math.min(72, last) }, () => ({ count: 0, change: false, isBehind: true }));
    list.forEach((one, at) => {
      const bin = spread[Math.floor(at * spread.length / last)];
      bin.count += 1;
      bin.change ||= one.change;
      bin.isBehind &&= at >= place;
    });
    const text = (at) => at >= last ? t('now') : this.clock === 'known' ? t('positionAt', ctx.number(list[Math.max(0, at - 1)].at)) : ctx.when(list[Math.max(0, at - 1)].at, 'long');
    const range = h('input', { type: 'range', min: 1, max: last, value: Math.max(1, Math.min(place, last)), 'aria-label': t('asOf'), 'aria-valuetext': text(this.at === null ? last : place), 'data-tool': 'range',
      oninput: () => { output.textContent = Number(range.value) >= last ? t('now') : text(Number(range.value)); },
      onchange: () => { const to = Number(range.value); this.moveTo(to >= last ? null : list[to - 1].at); } });
    const output = h('output', null, this.at === null ? t('now') : this.clock === 'known' ? t('positionAt', ctx.number(this.at)) : ctx.when(this.at, 'clock'));
    fill(this.rail,
      h('select', { 'aria-label': t('clock'), 'data-tool': 'clock', onchange: (event) => this.moveTo(null, event.target.value) },
        h('option', { value: 'known', selected: this.clock === 'known' }, t('clock.known')), h('option', { value: 'happened', selected: this.clock === 'happened' }, t('clock.happened'))),
      h('button', { type: 'button', class: 'plain', 'aria-label': t('stepBack'), 'data-tool': 'back', onclick: () => this.step(-1) }, '◂'),
      h('div', { class: 'slide' }, bars(spread.map((bin) => bin.count), { marked: (at) => spread[at].change, faded: (at) => spread[at].isBehind }), range),
      h('button', { type: 'button', class: 'plain', 'aria-label': t('stepOn'), 'data-tool': 'on', onclick: () => this.step(1) }, '▸'), output);
    if (had) this.rail.querySelector(`[data-tool=${had}]`)?.focus({ preventScroll: true });
  }

  /** On to the next moment that is wanted, or back. Behind the last of all is now. */
  step(by, isWanted = () => true) {
    const all = this.moments ?? [], end = all.at(-1), at = this.at ?? end?.at;
    if (by > 0) {
      const to = all.find((one) => one.at > at && isWanted(one));
      return this.moveTo(!to || to === end ? null : to.at);
    }
    const before = all.slice(0, -1).filter((one, place) => one.at < at && isWanted(all[place + 1])).at(-1);
    if (before) this.moveTo(before.at);
  }

  drawBanner() {
    const { t } = this.ctx, isThen = this.at !== null;
    this.banner.hidden = !isThen;
    if (!isThen) return fill(this.banner);
    const states = this.window.rows.map((row) => this.state.get(row.id)?.state);
    const words = this.clock === 'known' ? t('asOfPosition', this.ctx.number(this.at)) : t('asOfTime', this.ctx.when(this.at));
    const changed = states.filter((one) => one === 'changed').length, later = states.filter((one) => one === 'later').length;
    fill(this.banner, h('strong', null, words), h('span', null, t('changedSince', changed)), h('span', null, t('laterSince', later)),
      this.window.older || this.window.newer ? h('span', null, t('inWindow')) : null,
      h('button', { type: 'button', onclick: () => this.moveTo(null) }, t('backToNow')));
  }

  // MARK: Going to a row

  focus(id) {
    const node = this.window.find(id);
    if (!node) return false;
    node.scrollIntoView({ block: 'center' });
    node.focus({ preventScroll: true });
    return true;
  }

  async jump(id) {
    this.ctx.note({ at: id });
    if (this.focus(id)) return;
    const [line] = (await this.ctx.lines(['events', id], {})).lines;
    await this.window.show(displayTime(rowOf({ event: line })));
    this.drawTools();
    this.focus(id);
  }

  // MARK: Words

  /** Words are looked for by a part of its own. */
  async find(text, goes = true) { await (await finder()).find(this, text, goes); }

  async walk(by) { if (this.hits.length) await (await finder()).walk(this, by); }

  // MARK: Keys

  current() {
    const node = document.activeElement?.closest?.('article.row');
    if (node) return this.window.rows.find((row) => row.key === node.dataset.key);
    const seen = [...this.window.nodes.values()].find((one) => one.getBoundingClientRect().bottom > 140);
    return seen && this.window.rows.find((row) => row.key === seen.dataset.key);
  }

  async move(by, isWanted = () => true) {
    const rows = this.window.rows, at = rows.indexOf(this.current());
    for (let to = at + by; to >= 0 && to < rows.length; to += by) if (isWanted(rows[to])) return this.focus(rows[to].id);
    await this.window.more(by < 0 ? 'older' : 'newer');
  }

  keys() {
    const { ctx } = this, isChange = (one) => one.change;
    const of = (body) => () => { const row = this.current(); if (row) body(row); };
    const isOtherDay = (row) => { const now = this.current(); return ctx.when(row.time, 'day') !== ctx.when(now.time, 'day'); };
    return {
      n: () => this.walk(1), N: () => this.walk(-1), PageDown: () => this.move(1), PageUp: () => this.move(-1),
      '[': () => this.step(-1, isChange), ']': () => this.step(1, isChange), 0: () => this.moveTo(null),
      b: of((row) => this.moveTo(row.position, 'known')),
      d: () => this.move(1, isOtherDay), D: () => this.move(-1, isOtherDay),
      e: () => this.move(1, (row) => row.edits.length || row.corrections.length || row.retracted),
      E: () => this.move(-1, (row) => row.type === 'bot.failed' || row.isErased || row.isMessage && row.text === null),
      w: of((row) => { if (ctx.has('getWhy')) ctx.go(ctx.link(['why', row.id])); }),
      p: of((row) => proofSheet(ctx, row)),
      v: of((row) => dialog(ctx.t('raw'), ctx.t, h('pre', null, shown(JSON.stringify(row.event, null, 2))))),
      c: of((row) => { ctx.note({ at: row.id }); ctx.copy(location.href); }),
    };
  }
}
