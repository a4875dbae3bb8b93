// The feed of changes: it goes on where it stopped; what comes twice has the same id.

/** Lines of a body as they come. `beat` is told of each sign of life. */
async function* linesOf(body, beat) {
  const reader = body.getReader(), decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    beat();
    const all = (rest + decoder.decode(value, { stream: true })).split('\n');
    rest = all.pop();
    for (const line of all) if (line) yield JSON.parse(line);
  }
}

const silence = 40_000;

export class Feed {
  /**
   * `open(after, signal)` gives an answer whose body is the stream. `event(event)` and `live(item)` get what comes, `ready(isAnew)` when all
   * that was there has come: anew if the place was lost. `over(error)` when asking again is of no use; `state(isLive)` whenever that changes.
   */
  constructor(hooks) {
    Object.assign(this, hooks, { cursor: null, isAnew: true, isLive: false, isParked: false, isOver: false, pause: 500 });
  }

  async run() {
    while (!this.isOver) {
      if (this.isParked) { await this.rest(Infinity); continue; }
      let wait = 0;
      try { wait = await this.follow(); } catch (error) {
        if (error.status === 401 || error.status === 403) { this.isOver = true; this.over(error); }
        if (error.code === 'E_CURSOR') Object.assign(this, { cursor: null, isAnew: true });
      }
      this.tell(false);
      if (this.isParked || this.isOver) continue;
      await this.rest(wait || this.pause * (0.7 + 0.3 * Math.random()));
      this.pause = Math.min(this.pause * 2, 15_000);
    }
  }

  async follow() {
    const stop = this.stop = new AbortController();
    let timer;
    const beat = () => { clearTimeout(timer); timer = setTimeout(() => stop.abort(), silence); };
    beat();
    try {
      const answer = await this.open(this.cursor ?? 'now', stop.signal);
      for await (const line of linesOf(answer.body, beat)) {
        if (stop.signal.aborted) return 0;
        switch (line.control) {
          case undefined: this.event(line); break;
          case 'live': this.live(line); break;
          case 'caught-up': this.pause = 500; this.cursor = line.cursor; this.tell(true); this.ready(this.isAnew); this.isAnew = false; break;
          case 'reset': Object.assign(this, { cursor: null, isAnew: true }); return 0;
          case 'closing': return line.retry_ms ?? 0;
        }
        if (line.cursor) this.cursor = line.cursor;
      }
      return 0;
    } finally {
      clearTimeout(timer);
      stop.abort();
    }
  }

  tell(isLive) {
    if (isLive === this.isLive) return;
    this.isLive = isLive;
    this.state(isLive);
  }

  rest(ms) {
    return new Promise((done) => {
      this.woken = done;
      if (ms !== Infinity) setTimeout(done, ms);
    });
  }

  /** Lets go of the connection, as of a page out of sight. */
  park() {
    this.isParked = true;
    this.stop?.abort();
  }

  /** Goes on at once. */
  wake() {
    this.isParked = false;
    this.woken?.();
  }

  end() {
    this.isOver = true;
    this.stop?.abort();
    this.woken?.();
  }
}
