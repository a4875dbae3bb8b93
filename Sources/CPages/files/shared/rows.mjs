// Lines of `GET /v1/conversations/C/rows` in the page's words: pure. The server has folded edits and retractions.

const nodes = /^\/nodes\/([0-9a-f]{64})\/([0-9a-f-]{36})$/;

/** A row of a conversation or a history. */
export function row(line) {
  const event = line.event, source = nodes.exec(event.source ?? '');
  const author = event.author ?? event.user;
  const first = typeof event.data?.text === 'string' ? event.data.text : null;
  const isMessage = event.type === 'message.posted' || event.type === 'bot.replied';
  const edits = line.edits ?? [], own = edits.filter((edit) => edit.applied && edit.author === author);
  // The last hundred changes are listed: of more, the edit that stands may be among those that are not.
  const more = Math.max(0, (line.amendments ?? 0) - edits.length - (line.retractions?.length ?? 0) - (line.retracted ? 1 : 0));
  return {
    // Two events may have one id; no two have a place of one origin.
    id: event.id, key: `${source?.[2]}/${event.sequence}`, event, type: event.type, author, user: event.user,
    conversation: event.subject?.startsWith('conversation/') ? event.subject.slice(13) : null,
    time: event.time, recorded: recorded(event.hlc), position: Number(event.position), sequence: Number(event.sequence),
    node: source?.[1] ?? null, origin: source?.[2] ?? null, cause: event.cause ?? null,
    isMessage, isBot: event.type.startsWith('bot.'), isErased: event.erased === true,
    isOpaque: event.type === '' || event.data_base64 !== undefined,
    amends: amends(event), first,
    // An edit replaces a text only where its author is the message's, whatever the server says.
    text: line.text !== undefined && (own.length || more) ? line.text : first,
    edits: own, corrections: edits.filter((edit) => !own.includes(edit)),
    retracted: line.retracted ?? null, retractions: line.retractions ?? [],
    moreAmendments: more,
    attachments: Array.isArray(event.data?.attachments) ? event.data.attachments : [],
  };
}

/** The message that an edit or a retraction is of. */
function amends(event) {
  if (event.type !== 'message.edited' && event.type !== 'message.retracted') return null;
  return typeof event.data?.message === 'string' ? event.data.message : event.cause ?? null;
}

/** When the origin recorded it, Unix milliseconds. */
export function recorded(hlc) {
  const found = /^([0-9a-f]{12})-[0-9a-f]{4}$/.exec(hlc ?? '');
  return found ? parseInt(found[1], 16) : null;
}

/** By what the server sorts rows and finds them: the display time (VIEWS.md). */
export const displayTime = (row) => Math.min(Date.parse(row.time), row.recorded ?? Infinity);

/** Which of two rows comes first, as the server has them: by display time, hlc, origin and sequence. */
export function order(a, b) {
  const before = (one, other) => one < other ? -1 : one > other ? 1 : 0;
  return before(displayTime(a), displayTime(b)) || before(a.event.hlc ?? '', b.event.hlc ?? '') || before(a.origin ?? '', b.origin ?? '') || before(a.sequence, b.sequence);
}
