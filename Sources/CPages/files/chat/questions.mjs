// What became of one's questions, as the record says: pure.

/** So long an answer is waited for; from then on one goes on without it. */
export const patience = 1_800_000;

const ends = { 'bot.replied': 'answered', 'bot.failed': 'failed', 'bot.cancelled': 'cancelled', 'bot.retryRequested': 'waits' };

/** Questions of `me` among rows, oldest first: `{ id, state, by, at }`. The last stored counts, an answer ends all. */
export function questions(rows, me, isVoice) {
  const found = new Map();
  for (const row of rows) {
    if (row.type !== 'message.posted' || row.author !== me || row.retracted) continue;
    if (row.text?.trim() || isVoice && row.attachments.some((one) => String(one?.mediaType).startsWith('audio/'))) found.set(row.id, { id: row.id, state: 'waits', at: row.recorded ?? Date.parse(row.time), place: 0 });
  }
  for (const row of rows) {
    const one = found.get(row.event.data?.inReplyTo ?? row.cause), state = ends[row.type], place = row.position || Infinity;
    if (!one || !state || one.state === 'answered' || state === 'failed' && row.event.data?.final === false || state === 'cancelled' && row.author !== me) continue;
    if (state === 'answered' || place >= one.place) Object.assign(one, { state, place, by: row.id }, state === 'waits' ? { at: row.recorded ?? Date.parse(row.time) } : null);
  }
  return [...found.values()];
}

/** Those that still wait. */
export const waiting = (list, now) => list.filter((one) => one.state === 'waits' && now - one.at < patience);
