// A conversation: its rows, what is on the way, and where one writes.
import { h, fill } from '../shared/dom.mjs';
import { prose, shown } from '../shared/prose.mjs';
import { displayTime, row as rowOf } from '../shared/rows.mjs';
import { excerpt } from '../shared/text.mjs';
import { loader, RowWindow } from '../shared/window.mjs';
import { bubble, clip } from './bubble.mjs';
import { Composer } from './compose.mjs';
import { sign } from '../shared/icons.mjs';

/** What is shown; marks of reading and amendments are no rows. */
export const types = ['message.posted', 'bot.replied', 'bot.failed', 'bot.transcribed', 'bot.cancelled', 'bot.retryRequested', 'survey.offered', 'survey.answered', 'conversation.started', 'conversation.renamed', 'conversation.closed', 'participant.joined', 'participant.left'];
const told = { 'message.retracted': 'takingBack', 'message.edited': 'editing', 'bot.cancelled': 'cancelAnswer', 'bot.retryRequested': 'askAgain', 'conversation.hidden': 'hide', 'conversation.shown': 'unhide' };
const near = 80;

export class Talk {
  constructor(chat, conversation, query) {
    Object.assign(this, {
      chat, conversation, query, subject: chat.subject(conversation), leaving: new AbortController(), answers: new Map(), stale: new Set(), isAtEnd: true,
      unreadFrom: undefined, marked: null, hasNews: false, isLoaded: false, fresh: 0, typing: null, keepsFocus: true, current: query.get('at'), waits: [],
    });
    const { say } = chat, parts = ['conversations', conversation, 'rows'], ask = (more) => chat.lines(parts, { type: types, ...more });
    this.load = loader(ask, rowOf);
    this.window = new RowWindow({
      words: { older: say('older'), newer: say('newer'), begin: say('beginning'), end: say('end') }, time: displayTime, load: this.load,
      changed: (rows) => this.learn(rows), draw: (row, before) => bubble(this, row, before),
    });
    this.window.feed.setAttribute('aria-label', say('messages'));
    this.window.feed.addEventListener('keydown', (event) => this.step(event));
    this.heading = h('h1', { tabindex: -1 });
    this.people = h('p', { class: 'people' });
    this.hitBar = h('div', { class: 'hits', hidden: true });
    this.mine = h('div');
    this.live = h('div');
    this.typed = h('div');
    this.open = h('div', { class: 'open' }, this.mine, this.live, this.typed);
    this.down = h('button', { type: 'button', class: 'down', hidden: true, onclick: () => this.newest() });
    this.composer = Composer.of(chat, this);
    this.element = h('section', { class: 'talk' },
      h('header', { class: 'head' }, chat.back(), h('div', null, this.heading, this.people),
        h('a', { class: 'tool', href: chat.link(['search'], { in: conversation }) }, sign('search', say('searchHere'))),
        h('button', { type: 'button', class: 'plain tool', id: 'manage', onclick: () => chat.use('sheets', 'manage', this) }, sign('more', say('manage'))), this.hitBar),
      this.window.element, this.open, h('div', { class: 'foot' }, this.down, this.composer.element));
    this.named();
  }

  get name() { return this.chat.rooms.name(this.conversation); }

  named() {
    const { rooms } = this.chat, room = rooms.room(this.conversation), others = room?.others ?? [];
    if (!room && rooms.isLoaded && !this.isAsked) {
      this.isAsked = true;
      rooms.find(this.conversation).then(() => { if (!this.isClosed) this.named(); }, () => {});
    }
    fill(this.heading, shown(this.name));
    fill(this.people, shown(others.map((one) => this.chat.name(one.user)).join(', ')), room && room.participants > others.length + 1 ? ` +${room.participants - others.length - 1}` : null);
    this.people.hidden = !room?.title && others.length < 2;
    this.rename();
    this.placeUnread();
  }

  /** Rows whose authors have other names now. */
  rename() {
    const names = JSON.stringify([...this.chat.names, ...this.chat.called, this.chat.photo]);
    if (this.called !== undefined && this.called !== names && this.isLoaded) this.window.keep(() => this.window.redraw());
    this.called = names;
  }

  async show() {
    const { chat } = this;
    addEventListener('scroll', () => this.scrolled(), { passive: true, signal: this.leaving.signal });
    addEventListener('resize', () => this.stick(), { signal: this.leaving.signal });
    this.window.start(this.leaving.signal);
    let time = null;
    if (this.current) {
      try {
        const [line] = (await chat.lines(['events', this.current])).lines;
        time = displayTime(rowOf({ event: line }));
      } catch (error) { if (error.status !== 404) throw error; chat.announce(chat.say('notFound')); }
    }
    await this.window.show(time);
    if (this.isClosed) return;
    this.isLoaded = true;
    this.drawOpen();
    const target = this.current && this.window.find(this.current);
    chat.hits?.draw(this);
    if (target) {
      this.isAtEnd = false;
      target.scrollIntoView({ block: 'center' });
      target.focus({ preventScroll: true });
    } else {
      this.toEnd();
      this.placeUnread();
      if (innerWidth > 750) this.composer.field.focus({ preventScroll: true }); else this.heading.focus({ preventScroll: true });
    }
    this.scrolled();
    if (this.isBehind) await chat.coming.renew(this, true);
    this.seen();
  }

  close() {
    this.isClosed = true;
    this.leaving.abort();
    clearTimeout(this.reading);
    clearTimeout(this.patience);
    this.composer.close();
  }

  // MARK: What is known of the rows

  learn(rows) {
    for (const row of rows) {
      this.chat.outbox.seen(row.id);
      if (row.type === 'bot.replied' || row.type === 'bot.failed') this.chat.bots.add(this.bot = row.author);
      if (row.type === 'survey.answered' && row.author === this.chat.me && row.cause) this.answers.set(row.cause, row.event.data?.choice ?? '');
    }
  }

  /** What was answered to an offer, also what is on its way. */
  answer(row) {
    return this.answers.get(row.id) ?? this.chat.outbox.of(this.subject).find((one) => one.event.type === 'survey.answered' && one.event.cause === row.id)?.event.data.choice ?? null;
  }

  choose(row, choice) {
    const { survey, question, about } = row.event.data;
    this.chat.tell('survey.answered', this.conversation, { survey, question, choice, ...(about ? { about } : {}) }, { cause: row.id });
    this.window.update(row.id);
    this.window.find(row.id)?.querySelector('[aria-pressed=true]')?.focus();
    this.chat.announce(this.chat.say('thanks'));
  }

  /** What a row replies to, unless it stands right above it. */
  reply(row) {
    const at = this.window.rows.findIndex((one) => one.id === row.cause);
    const mine = this.window.rows.findIndex((one) => one.id === row.id);
    return at >= 0 && this.window.rows[at].isMessage && at !== (mine < 0 ? this.window.rows.length : mine) - 1 ? this.window.rows[at] : null;
  }

  /** Where what is unread begins: as many messages of others as the list of rooms says, from the end. */
  placeUnread() {
    if (this.unreadFrom !== undefined || !this.isLoaded || !this.chat.rooms.isLoaded) return;
    this.unreadFrom = null;
    let count = this.chat.rooms.by.get(this.conversation)?.unread ?? 0;
    if (!count || this.window.newer) return;
    const others = this.window.rows.filter((row) => row.isMessage && row.author !== this.chat.me);
    const first = others.at(-Math.min(count, others.length));
    if (!first) return;
    this.unreadFrom = first.id;
    this.window.update(first.id);
    const node = this.window.find(first.id);
    if (this.current || node.getBoundingClientRect().top > 60) return;
    node.scrollIntoView({ block: 'start' });
    this.isAtEnd = false;
    this.scrolled();
  }

  // MARK: What is on its way

  drawOpen() {
    if (this.drawing || this.isClosed) return;
    this.drawing = requestAnimationFrame(() => { this.drawing = null; this.drawNow(); });
  }

  /** `more`: what is about to stand among the rows. */
  drawNow(...more) {
    const { chat } = this, { say } = chat, held = this.mine.contains(document.activeElement) ? document.activeElement.dataset.id : null;
    const open = chat.outbox.of(this.subject), isBad = ({ state }) => state === 'failed' || state === 'refused';
    fill(this.mine, open.filter((one) => /^(message|survey)\./.test(one.event.type) || isBad(one)).map((one) => this.sending(one)));
    fill(this.typed, this.typing && Date.now() - this.typing.at < 5_900 ? h('p', { class: 'note' }, say('typing', chat.name(this.typing.author))) : null);
    if (held) this.mine.querySelector(`[data-id="${CSS.escape(held)}"]`)?.focus();
    // Before the log is followed none is awaited.
    chat.coming?.drawAnswers(this, [...this.window.rows, ...more, ...open.filter((one) => !isBad(one)).map(({ event }) => rowOf({ event }))]);
    const bad = open.filter(isBad).length;
    if (bad && bad !== this.bad) chat.announce(say('notSent'));
    this.bad = bad;
    this.stick();
  }

  sending({ event, state, code }) {
    const { say } = this.chat, text = event.data.text ?? '', is = event.type === 'message.posted';
    const what = is ? null : say(told[event.type] ?? 'surveyAnswer');
    const status = state === 'failed' || state === 'refused'
      ? h('span', { class: 'time failed' }, say(state === 'failed' ? 'notSent' : 'refused', code), ' ',
        state === 'failed' ? h('button', { type: 'button', class: 'inline', 'data-id': event.id, onclick: () => this.chat.outbox.again(event.id) }, say('again')) : null,
        h('button', { type: 'button', class: 'inline', 'data-id': `${event.id}-drop`, onclick: () => { this.chat.outbox.drop(event.id); this.window.redraw(); } }, say('discard')))
      : h('span', { class: 'time' }, state === 'sent' ? ['✓ ', h('span', { class: 'unseen' }, say('sent'))] : say('sending'));
    return h('div', { class: `row mine ${state}`, 'data-id': event.id }, h('div', { class: 'line' },
      h('div', { class: 'bubble' }, what ? h('p', { class: 'by' }, what) : null, (event.data.attachments ?? []).map((file) => h('p', { class: 'file' }, clip(say), shown(excerpt(file.alt ?? file.name ?? say('attachment'), 60)))), text ? prose(text) : null), status));
  }

  post(text, attachments) {
    this.chat.tell('message.posted', this.conversation, { ...(text ? { text } : {}), ...(attachments.length ? { attachments } : {}) });
    if (this.window.newer) this.newest(); else { this.drawNow(); this.toEnd(); }
  }

  change(row, text) {
    if (text && text !== row.text) this.chat.tell('message.edited', this.conversation, { message: row.id, text });
  }

  // MARK: Where one is

  scrolled() {
    this.isAtEnd = !this.window.newer && innerHeight + scrollY >= document.documentElement.scrollHeight - near;
    if (this.isAtEnd) { this.fresh = 0; this.seen(); }
    this.drawDown();
  }

  drawDown() {
    this.down.hidden = this.isAtEnd || !this.isLoaded;
    fill(this.down, '↓ ', this.fresh ? this.chat.say('newMessages', this.fresh) : this.chat.say('toNewest'));
  }

  /** What grows at the end stays in view for who looks there. */
  stick() { if (this.isAtEnd && this.isLoaded && !this.isClosed) this.toEnd(); }

  toEnd() {
    this.isAtEnd = !this.window.newer;
    scrollTo(0, document.documentElement.scrollHeight);
  }

  async newest() {
    if (this.window.newer) {
      this.current = null;
      await this.window.show(null);
    }
    this.drawNow();
    this.toEnd();
    this.scrolled();
  }

  looked() { this.seen(); }

  /** What is seen is marked as read where the log is followed. */
  seen() { this.chat.coming?.seen(this); }

  /** From message to message, as in a feed (W3C APG). */
  step(event) {
    const by = { PageDown: 1, PageUp: -1 }[event.key];
    if (!by || event.ctrlKey || event.altKey || event.metaKey) return;
    const all = [...this.window.feed.children].filter((node) => !node.hidden), at = all.indexOf(event.target.closest('article')), to = all[at + by];
    event.preventDefault();
    to?.focus();
  }
}
