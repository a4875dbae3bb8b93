// A conversation: its rows, what is on the way, and where one writes.
import { h, fill } from '../shared/dom.mjs';
import { prose, shown } from '../shared/prose.mjs';
import { displayTime, order, row as rowOf } from '../shared/rows.mjs';
import { excerpt } from '../shared/text.mjs';
import { loader, RowWindow } from '../shared/window.mjs';
import { bubble, clip, face, failure } from './bubble.mjs';
import { Composer } from './compose.mjs';
import { eventID } from '../shared/ids.mjs';
import { sign } from '../shared/icons.mjs';
import { patience, questions, waiting } from './questions.mjs';

/** What is shown; marks of reading and amendments are no rows. */
const types = ['message.posted', 'bot.replied', 'bot.failed', 'bot.transcribed', 'bot.cancelled', 'bot.retryRequested', 'survey.offered', 'survey.answered', 'conversation.started', 'conversation.renamed', 'conversation.closed', 'participant.joined', 'participant.left'];
const told = { 'message.retracted': 'takingBack', 'message.edited': 'editing', 'bot.cancelled': 'cancelAnswer', 'bot.retryRequested': 'askAgain', 'conversation.hidden': 'hide', 'conversation.shown': 'unhide' };
const near = 80, spoken = 300;

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
        h('button', { type: 'button', class: 'plain tool', id: 'manage', onclick: () => this.manage() }, sign('more', say('manage'))), this.hitBar),
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

  /** Rows whose authors are called otherwise now. */
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
    performance.mark('rows');
    this.drawOpen();
    const target = this.current && this.window.find(this.current);
    this.drawHits();
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
    if (this.isBehind) await this.renew(true);
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

  // MARK: What comes

  arrived(event) {
    if (event.subject !== this.subject) return;
    if (event.type === 'message.edited' || event.type === 'message.retracted') {
      this.stale.add(event.data?.message ?? event.cause);
      this.refresh();
    } else if (types.includes(event.type)) this.take(rowOf({ event }));
    this.drawOpen();
  }

  take(row) {
    const { chat } = this;
    this.learn([row]);
    if (row.type === 'survey.answered' && row.cause) this.window.update(row.cause);
    // What is there may be folded already, and an event alone is not.
    if (!this.isLoaded) { this.isBehind = true; return; }
    if (this.window.find(row.id)) return;
    // In place of what waited for it, in one go.
    if (row.isBot) this.drawNow(row);
    const isShown = this.window.put(row, order);
    if (row.type === 'bot.failed' && row.event.data?.final !== false) chat.announce(failure(chat, row));
    if (!row.isMessage) return this.stick();
    if (row.author === chat.me) return this.toEnd();
    this.hasNews = true;
    if (this.typing?.author === row.author) this.typing = null;
    const text = row.text ? excerpt(row.text, spoken) : row.attachments.length ? chat.say('attachment') : '';
    chat.announce(`${chat.name(row.author)}: ${text}`);
    if (this.isAtEnd && isShown) this.stick();
    else { this.fresh += 1; this.drawDown(); }
    this.seen();
  }

  /** Asks anew for messages that were edited or taken back. */
  async refresh() {
    for (const id of [...this.stale]) {
      const row = this.window.rows.find((one) => one.id === id);
      if (!row) { if (this.isLoaded) this.stale.delete(id); continue; }
      try {
        const at = displayTime(row), found = await this.chat.lines(['conversations', this.conversation, 'rows'], { type: types, order: 'oldest', limit: 500, since: new Date(at).toISOString(), until: new Date(at + 1).toISOString() });
        this.stale.delete(id);
        for (const line of found.lines) if (line.event.id === id && !this.isClosed) this.window.put(rowOf(line), order);
        this.drawOpen();
        this.stick();
      } catch { return; }
    }
  }

  /** The feed goes on; anew where its place was lost: what came between is looked for. */
  async renew(isAnew) {
    if (!isAnew) return this.refresh();
    if (!this.isLoaded) { this.isBehind = true; return; }
    this.isBehind = false;
    if (this.window.newer) return;
    try {
      const { rows } = await this.load('older', null, 100);
      if (this.isClosed) return;
      if (this.window.rows.length && !rows.some((row) => this.window.find(row.id))) { await this.window.show(null); return this.toEnd(); }
      this.learn(rows);
      for (const row of rows.reverse()) {
        if (!this.window.find(row.id)) this.take(row);
        else if (row.edits.length || row.retracted || row.corrections.length) this.window.put(row, order);
      }
      this.stick();
    } catch { this.isBehind = true; }
  }

  told(item) {
    if (item.conversation !== this.conversation) return;
    if (item.kind === 'typing' && item.author !== this.chat.me) {
      this.typing = { author: item.author, at: Date.now() };
      setTimeout(() => this.drawOpen(), 6_000);
    }
    this.drawOpen();
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
    this.drawAnswers([...this.window.rows, ...more, ...open.filter((one) => !isBad(one)).map(({ event }) => rowOf({ event }))]);
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

  /** Answers being written. One that is awaited has the same bubble until the reply stands in its place. */
  drawAnswers(rows) {
    const { chat } = this, { say } = chat, room = chat.rooms.room(this.conversation), now = Date.now(), was = this.waits.length;
    const bot = this.bot ?? room?.others?.find((one) => chat.bots.has(one.user))?.user;
    const isOut = rows.findLast((row) => row.author === bot || row.event.data?.user === bot)?.type === 'participant.left';
    const list = bot && !isOut && this.isLoaded && !this.window.newer ? questions(rows, chat.me, room?.category === 'voice') : [];
    const waits = this.waits = waiting(list, now), isWaiting = (id) => waits.some((one) => one.id === id);
    const answers = chat.pieces.of(this.conversation, now).filter((one) => isWaiting(one.cause) || !list.some((other) => other.id === one.cause));
    if (waits.length && !answers.some((one) => isWaiting(one.cause))) answers.push({ cause: waits[0].id, author: bot });
    const nodes = answers.map(({ cause, author, text }) => {
      const id = `${cause} ${author}`, node = [...this.live.children].find((one) => one.dataset.answer === id) ?? h('div', { class: 'row theirs bot live', 'aria-busy': 'true', 'data-answer': id },
        h('p', { class: 'who' }, shown(chat.name(author)), h('span', { class: 'kind' }, say('bot'))),
        h('div', { class: 'line' }, face(chat, author, true), h('div', { class: 'bubble' })));
      fill(node.querySelector('.bubble'), text ? prose(text) : null, h('span', { class: 'dots' }, h('span', { class: 'unseen' }, say(text ? 'writing' : 'awaited'))));
      return node;
    });
    this.live.replaceChildren(...nodes);
    if (waits.length && !was) chat.announce(say('awaiting', chat.name(bot)));
    this.composer.drawHold();
    clearTimeout(this.patience);
    if (waits.length) this.patience = setTimeout(() => this.drawOpen(), waits[0].at + patience - now + 100);
    const last = list.at(-1), old = this.again;
    this.again = last?.state === 'failed' || last?.state === 'cancelled' ? last : null;
    if (old?.by !== this.again?.by) for (const one of [old, this.again]) if (one) this.window.update(one.by);
  }

  /** The answer is wanted no more. */
  cancel() {
    for (const { id } of this.waits) this.chat.tell('bot.cancelled', this.conversation, { inReplyTo: id });
    this.drawNow();
    this.composer.field.focus();
  }

  askAgain(id) {
    this.chat.tell('bot.retryRequested', this.conversation, { inReplyTo: id });
    this.drawNow();
    this.toEnd();
  }

  /** A conversation can be taken from one's own list; what erasing it would be is said. */
  manage() {
    const { chat } = this, { say } = chat, isHidden = chat.rooms.room(this.conversation)?.hidden === true;
    const sheet = chat.dialog(say(isHidden ? 'unhideAsk' : 'hideAsk'), say, h('p', { class: 'quote' }, shown(this.name)), isHidden ? null : h('p', null, say('hideHelp')),
      h('p', null, h('button', { type: 'button', class: 'main', onclick: () => {
        sheet.sheet.close();
        chat.tell(isHidden ? 'conversation.shown' : 'conversation.hidden', this.conversation, {});
        chat.announce(say(isHidden ? 'unhidden' : 'hidden'));
        if (!isHidden) chat.go();
      } }, say(isHidden ? 'unhide' : 'hide'))), h('p', { class: 'help' }, say('eraseHelp')));
  }

  edit(row) { this.composer.edit(row); }

  change(row, text) {
    if (text && text !== row.text) this.chat.tell('message.edited', this.conversation, { message: row.id, text });
  }

  takeBack(row) {
    const { say } = this.chat, sheet = this.chat.dialog(say('takeBackAsk'), say, h('p', { class: 'quote' }, shown(excerpt(row.text ?? '', 200))), h('p', null, say('takeBackHelp')),
      h('p', null, h('button', { type: 'button', class: 'main', onclick: () => { sheet.sheet.close(); this.chat.tell('message.retracted', this.conversation, { message: row.id }); } }, say('takeBack'))));
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

  /** What has been seen to the end is read, a moment later. */
  seen() {
    clearTimeout(this.reading);
    this.reading = setTimeout(() => this.read(), 400);
  }

  async read() {
    const { chat } = this;
    if (document.hidden || this.isClosed || !this.isAtEnd || !this.isLoaded || !chat.rooms.room(this.conversation)) return;
    const last = this.window.rows.findLast((row) => row.isMessage && row.author !== chat.me);
    // Of a room that is not in the list it is not known whether something is unread.
    if (!last || last.id === this.marked || chat.rooms.room(this.conversation)?.unread === 0 && !this.hasNews) return;
    this.marked = last.id;
    this.hasNews = false;
    try {
      await chat.post(['events'], { id: eventID(), type: 'message.read', user: chat.me, subject: this.subject, data: { upTo: last.id } });
    } catch { Object.assign(this, { marked: null, hasNews: true }); }
  }

  /** From message to message, as in a feed (W3C APG). */
  step(event) {
    const by = { PageDown: 1, PageUp: -1 }[event.key];
    if (!by || event.ctrlKey || event.altKey || event.metaKey) return;
    const all = [...this.window.feed.children].filter((node) => !node.hidden), at = all.indexOf(event.target.closest('article')), to = all[at + by];
    event.preventDefault();
    to?.focus();
  }

  drawHits() {
    const { chat } = this, { say } = chat, list = chat.hits?.list ?? [], at = list.findIndex((one) => one.id === this.current);
    this.hitBar.hidden = at < 0;
    if (at < 0) return;
    const to = (place, image, words) => list[place] ? h('a', { class: 'tool', href: chat.link(['c', list[place].conversation], { at: list[place].id }) }, sign(image, words)) : null;
    fill(this.hitBar, h('span', null, say('hit', excerpt(chat.hits.q, 30), at + 1, list.length)), to(at - 1, 'up', say('previousHit')), to(at + 1, 'down', say('nextHit')),
      h('a', { class: 'tool', href: chat.link(['search'], { q: chat.hits.q, in: chat.hits.within }) }, say('allHits')));
  }
}
