// The list of rooms: the latest message first, with what is unread, as the node tells it.
import { h, fill } from '../shared/dom.mjs';
import { excerpt } from '../shared/text.mjs';

const page = 50, pause = 300;

export class Rooms {
  constructor(chat) {
    Object.assign(this, { chat, list: [], by: new Map(), old: new Map(), count: page, more: false, current: null, isLoading: false, isLoaded: false });
    this.items = h('ul', { class: 'rooms', 'aria-busy': 'true' });
    this.further = h('button', { type: 'button', class: 'more', hidden: true, onclick: () => { this.count += page; this.load(); } });
    this.aside = h('button', { type: 'button', class: 'inline', onclick: () => { this.showsHidden = !this.showsHidden; this.load(); } });
    this.element = h('nav', {}, this.items, this.further, this.aside);
  }

  get unread() { return this.list.filter((room) => room.unread && !room.hidden).length; }

  async load() {
    if (this.isLoading) { this.isStale = true; return; }
    this.isLoading = true;
    try {
      do {
        this.isStale = false;
        const rooms = [];
        let cursor;
        do {
          const found = await this.chat.lines(['users', this.chat.me, 'conversations'], { limit: Math.min(this.count - rooms.length, 500), cursor, all: this.showsHidden ? 1 : null, language: this.chat.words.language });
          rooms.push(...found.lines);
          cursor = found.end.more ? found.end.next : null;
        } while (cursor && rooms.length < this.count);
        Object.assign(this, { isLoaded: true, list: rooms, more: Boolean(cursor), by: new Map(rooms.map((room) => [room.conversation, room])) });
        for (const room of rooms) for (const one of room.others) if (one.name) this.chat.names.set(one.user, one.name);
      } while (this.isStale);
      this.draw();
      this.chat.view?.named?.();
    } catch (error) {
      // Without the network the list stays as it was; it is asked for again with the next event.
      if (error.status === 401) this.chat.failed(error);
      else if (!this.list.length) {
        this.items.setAttribute('aria-busy', 'false');
        this.items.replaceChildren(h('li', { class: 'hint' }, this.chat.say(error.status ? 'noAnswer' : 'unreachable')));
      }
    } finally { this.isLoading = false; }
  }

  /** A room, also one that is further down than the list goes. */
  room(conversation) { return this.by.get(conversation) ?? this.old.get(conversation); }

  /** Asks for a room that is not in the list. How much of it is unread is not told. */
  async find(conversation) {
    const { lines } = await this.chat.lines(['conversations', conversation], { limit: 6 });
    const room = lines.find((line) => line.type === 'conversation');
    const others = lines.filter((line) => line.type === 'participant' && line.user !== this.chat.me).slice(0, 5);
    if (room) this.old.set(conversation, { ...room, others, unread: null });
  }

  loadSoon() {
    if (this.later) return;
    this.later = setTimeout(() => { this.later = null; this.load(); }, pause);
  }

  drawSoon() {
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => { this.drawing = null; this.draw(); });
  }

  /** Which room is looked at. */
  mark(conversation) {
    this.current = conversation;
    for (const node of this.items.querySelectorAll('a')) node.dataset.room === conversation ? node.setAttribute('aria-current', 'page') : node.removeAttribute('aria-current');
  }

  /** The name of a room: its title, else those who are in it. */
  name(conversation, room = this.room(conversation)) {
    if (room?.title) return excerpt(room.title, 60);
    const others = room?.others ?? [];
    if (!others.length) return excerpt(conversation, 40);
    const names = others.slice(0, 3).map((one) => this.chat.name(one.user)).join(', ');
    return room.participants - 1 > 3 ? `${names} +${room.participants - 4}` : names;
  }

  draw() {
    const { say } = this.chat, held = document.activeElement?.closest?.('.rooms a')?.dataset.room;
    this.items.setAttribute('aria-busy', 'false');
    fill(this.items, this.list.map((room) => h('li', null, this.item(room))));
    if (!this.list.length) this.items.replaceChildren(h('li', { class: 'hint' }, say('noRooms')));
    this.further.hidden = !this.more;
    this.further.textContent = say('more');
    this.aside.textContent = say(this.showsHidden ? 'withoutHidden' : 'withHidden');
    if (held) this.items.querySelector(`a[data-room="${CSS.escape(held)}"]`)?.focus({ preventScroll: true });
    this.chat.title(this.chat.view?.name);
  }

  item(room) {
    const { chat } = this, { say } = chat, name = this.name(room.conversation, room);
    const open = chat.outbox.of(chat.subject(room.conversation)).filter((one) => one.state === 'failed' || one.state === 'refused').length;
    const last = room.last ? (room.last.author === chat.me ? say('youSaid', excerpt(room.last_text ?? '', 60)) : excerpt(room.last_text ?? '', 60)) : '';
    const today = chat.when(Date.now(), 'day');
    return h('a', { href: chat.link(['c', room.conversation]), 'data-room': room.conversation, 'aria-current': room.conversation === this.current ? 'page' : null, class: room.unread ? 'unread' : null },
      h('span', { class: 'face', 'aria-hidden': 'true' }, [...name][0] ?? '·'),
      h('span', { class: 'name' }, name, room.hidden ? ` (${say('hiddenRoom')})` : null),
      h('span', { class: 'when' }, chat.time(room.last_time, chat.when(room.last_time, 'day') === today ? 'minute' : 'date')),
      h('span', { class: 'last' }, last),
      open ? h('span', { class: 'badge failed' }, h('span', { 'aria-hidden': 'true' }, '!'), h('span', { class: 'unseen' }, say('notSentHere', open)))
        : room.unread ? h('span', { class: 'badge' }, h('span', { 'aria-hidden': 'true' }, room.unread > 999 ? '999+' : room.unread), h('span', { class: 'unseen' }, say('unread', room.unread))) : null);
  }
}
