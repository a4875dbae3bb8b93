// Replies while they are written: numbered pieces, of which the stored reply is the end. Pure.

/** So long a reply is told live (docs/operating/following.md), and a little more. */
const lifetime = 70_000;

export class Pieces {
  constructor() { this.open = new Map(); }

  /** A piece came. `text` of what is told is null from a gap on: then the stored reply is waited for. Answers whether it is the first. */
  take({ conversation, in_reply_to: cause, author, n, text }, now) {
    const key = `${cause} ${author ?? ''}`, had = this.open.get(key);
    const isNext = had ? had.text !== null && n === had.next : n === 0;
    if (n === 0) this.open.set(key, { key, conversation, cause, author, text, next: 1, at: now });
    else if (isNext) Object.assign(had, { text: had.text + text, next: n + 1, at: now });
    else this.open.set(key, { key, conversation, cause, author, text: null, next: n + 1, at: now });
    return !had;
  }

  /** An event is there: what it ends is told no more. */
  end(event) {
    const cause = event.data?.inReplyTo ?? event.cause, who = event.type === 'bot.cancelled' ? null : event.author ?? event.user;
    for (const [key, one] of this.open) if (one.cause === cause && (!one.author || !who || one.author === who)) this.open.delete(key);
  }

  /** What is being written in a conversation. */
  of(conversation, now) {
    for (const [key, one] of this.open) if (now - one.at > lifetime) this.open.delete(key);
    return [...this.open.values()].filter((one) => one.conversation === conversation);
  }

  /** The connection is gone, and pieces with it. */
  clear() { this.open.clear(); }
}
