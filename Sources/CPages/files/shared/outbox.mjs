// What is to be stored: kept until the node has it, sent in order, again with the same id, so stored once.

/** The same request may do better later. */
const isPassing = ({ status }) => status === 0 || status === 401 || status === 408 || status === 429 || status >= 500;

export class Outbox {
  /** `send(event)` stores it or throws an `ApiError`; `load()` and `save(list)` keep what is open; `changed(conversation)` is told. */
  constructor({ send, load, save, changed, later = (body, ms) => setTimeout(body, ms) }) {
    Object.assign(this, { send, load, save, changed, later, items: [], done: new Set(), running: new Set(), pause: 2_000 });
  }

  /** What an earlier visit left, and is sent now. */
  start() {
    for (const { event, state, code } of this.load()) if (!this.items.some((one) => one.event.id === event.id)) this.items.push({ event, state: state === 'refused' ? state : 'waiting', code });
    this.flush();
  }

  add(event) {
    this.items.push({ event, state: 'waiting' });
    this.keep();
    this.run(event.subject);
  }

  /** What is not known to be shown yet, in the order of sending. */
  of(subject) { return this.items.filter((one) => one.event.subject === subject); }

  /** Tries all again that may do better now. */
  flush() {
    for (const subject of new Set(this.items.map((one) => one.event.subject))) this.run(subject);
  }

  again(id) {
    const item = this.items.find((one) => one.event.id === id);
    if (!item) return;
    item.state = 'waiting';
    this.run(item.event.subject);
  }

  /** The event has come back from the log: it stands there, and here no more. */
  seen(id) { this.drop(id); }

  drop(id) {
    const at = this.items.findIndex((one) => one.event.id === id);
    if (at < 0) return;
    const [item] = this.items.splice(at, 1);
    this.done.add(id);
    this.keep();
    this.changed(item.event.subject);
  }

  /** Sends nothing more: what is open is for the next one. */
  end() { this.isOver = true; }

  async run(subject) {
    if (this.isOver) return;
    if (this.running.has(subject)) return this.changed(subject);
    this.running.add(subject);
    try {
      for (;;) {
        const item = !this.isOver && this.items.find((one) => one.event.subject === subject && (one.state === 'waiting' || one.state === 'failed'));
        if (!item) return;
        item.state = 'sending';
        this.changed(subject);
        try {
          await this.send(item.event);
          Object.assign(item, { state: 'sent', code: null });
          this.pause = 2_000;
          this.done.add(item.event.id);
        } catch (error) {
          Object.assign(item, { state: isPassing(error) ? 'failed' : 'refused', code: error.code ?? error.name });
          // Those behind it wait: their order is kept. It is tried again by itself, too.
          if (item.state === 'failed') {
            this.later(() => this.run(subject), this.pause);
            this.pause = Math.min(this.pause * 2, 30_000);
            return;
          }
        } finally {
          this.keep();
        }
      }
    } finally {
      this.running.delete(subject);
      this.changed(subject);
    }
  }

  /** Another tab may have put something there, too. */
  keep() {
    const open = this.items.filter((one) => one.state !== 'sent'), mine = new Set(open.map((one) => one.event.id));
    this.save([...this.load().filter((one) => !mine.has(one.event.id) && !this.done.has(one.event.id)), ...open]);
  }
}
