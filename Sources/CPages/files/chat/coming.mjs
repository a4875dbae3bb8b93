// What becomes of a conversation while one looks at it.
import { h, fill } from '../shared/dom.mjs';
import { eventID } from '../shared/ids.mjs';
import { prose, shown } from '../shared/prose.mjs';
import { displayTime, order, row as rowOf } from '../shared/rows.mjs';
import { excerpt } from '../shared/text.mjs';
import { face, failure } from './bubble.mjs';
import { patience, questions, waiting } from './questions.mjs';
import { types } from './talk.mjs';

const spoken = 300;

/** An event of the log. */
export function arrived(talk, event) {
  if (event.subject !== talk.subject) return;
  if (event.type === 'message.edited' || event.type === 'message.retracted') {
    talk.stale.add(event.data?.message ?? event.cause);
    refresh(talk);
  } else if (types.includes(event.type)) take(talk, rowOf({ event }));
  talk.drawOpen();
}

function take(talk, row) {
  const { chat } = talk;
  talk.learn([row]);
  if (row.type === 'survey.answered' && row.cause) talk.window.update(row.cause);
  // What is there may be folded already, and an event alone is not.
  if (!talk.isLoaded) { talk.isBehind = true; return; }
  if (talk.window.find(row.id)) return;
  // In place of what waited for it, in one go.
  if (row.isBot) talk.drawNow(row);
  const isShown = talk.window.put(row, order);
  if (row.type === 'bot.failed' && row.event.data?.final !== false) chat.announce(failure(chat, row));
  if (!row.isMessage) return talk.stick();
  if (row.author === chat.me) return talk.toEnd();
  talk.hasNews = true;
  if (talk.typing?.author === row.author) talk.typing = null;
  const text = row.text ? excerpt(row.text, spoken) : row.attachments.length ? chat.say('attachment') : '';
  chat.announce(`${chat.name(row.author)}: ${text}`);
  if (talk.isAtEnd && isShown) talk.stick();
  else { talk.fresh += 1; talk.drawDown(); }
  seen(talk);
}

/** Asks anew for messages that were edited or taken back. */
async function refresh(talk) {
  for (const id of [...talk.stale]) {
    const row = talk.window.rows.find((one) => one.id === id);
    if (!row) { if (talk.isLoaded) talk.stale.delete(id); continue; }
    try {
      const at = displayTime(row), found = await talk.chat.lines(['conversations', talk.conversation, 'rows'], { type: types, order: 'oldest', limit: 500, since: new Date(at).toISOString(), until: new Date(at + 1).toISOString() });
      talk.stale.delete(id);
      for (const line of found.lines) if (line.event.id === id && !talk.isClosed) talk.window.put(rowOf(line), order);
      talk.drawOpen();
      talk.stick();
    } catch { return; }
  }
}

/** The feed goes on; anew where its place was lost: what came between is looked for. */
export async function renew(talk, isAnew) {
  if (!isAnew) return refresh(talk);
  if (!talk.isLoaded) { talk.isBehind = true; return; }
  talk.isBehind = false;
  if (talk.window.newer) return;
  try {
    const { rows } = await talk.load('older', null, 100);
    if (talk.isClosed) return;
    if (talk.window.rows.length && !rows.some((row) => talk.window.find(row.id))) { await talk.window.show(null); return talk.toEnd(); }
    talk.learn(rows);
    for (const row of rows.reverse()) {
      if (!talk.window.find(row.id)) take(talk, row);
      else if (row.edits.length || row.retracted || row.corrections.length) talk.window.put(row, order);
    }
    talk.stick();
  } catch { talk.isBehind = true; }
}

/** What is told live. */
export function told(talk, item) {
  if (item.conversation !== talk.conversation) return;
  if (item.kind === 'typing' && item.author !== talk.chat.me) {
    talk.typing = { author: item.author, at: Date.now() };
    setTimeout(() => talk.drawOpen(), 6_000);
  }
  talk.drawOpen();
}

// MARK: What is read

/** What has been seen to the end is read, a moment later. */
export function seen(talk) {
  clearTimeout(talk.reading);
  talk.reading = setTimeout(() => read(talk), 400);
}

async function read(talk) {
  const { chat } = talk;
  if (document.hidden || talk.isClosed || !talk.isAtEnd || !talk.isLoaded || !chat.rooms.room(talk.conversation)) return;
  const last = talk.window.rows.findLast((row) => row.isMessage && row.author !== chat.me);
  // Of a room that is not in the list it is not known whether something is unread.
  if (!last || last.id === talk.marked || chat.rooms.room(talk.conversation)?.unread === 0 && !talk.hasNews) return;
  talk.marked = last.id;
  talk.hasNews = false;
  try {
    await chat.post(['events'], { id: eventID(), type: 'message.read', user: chat.me, subject: talk.subject, data: { upTo: last.id } });
  } catch { Object.assign(talk, { marked: null, hasNews: true }); }
}

// MARK: Answers

/** Answers being written. One that is awaited has the same bubble until the reply stands in its place. */
export function drawAnswers(talk, rows) {
  const { chat } = talk, { say } = chat, room = chat.rooms.room(talk.conversation), now = Date.now(), was = talk.waits.length;
  const bot = talk.bot ?? room?.others?.find((one) => chat.bots.has(one.user))?.user;
  const isOut = rows.findLast((row) => row.author === bot || row.event.data?.user === bot)?.type === 'participant.left';
  const list = bot && !isOut && talk.isLoaded && !talk.window.newer ? questions(rows, chat.me, room?.category === 'voice') : [];
  const waits = talk.waits = waiting(list, now), isWaiting = (id) => waits.some((one) => one.id === id);
  const answers = chat.pieces.of(talk.conversation, now).filter((one) => isWaiting(one.cause) || !list.some((other) => other.id === one.cause));
  if (waits.length && !answers.some((one) => isWaiting(one.cause))) answers.push({ cause: waits[0].id, author: bot });
  const nodes = answers.map(({ cause, author, text }) => {
    const id = `${cause} ${author}`, node = [...talk.live.children].find((one) => one.dataset.answer === id) ?? h('div', { class: 'row theirs bot live', 'aria-busy': 'true', 'data-answer': id },
      h('p', { class: 'who' }, shown(chat.name(author)), h('span', { class: 'kind' }, say('bot'))),
      h('div', { class: 'line' }, face(chat, author, true), h('div', { class: 'bubble' })));
    fill(node.querySelector('.bubble'), text ? prose(text) : null, h('span', { class: 'dots' }, h('span', { class: 'unseen' }, say(text ? 'writing' : 'awaited'))));
    return node;
  });
  talk.live.replaceChildren(...nodes);
  if (waits.length && !was) chat.announce(say('awaiting', chat.name(bot)));
  talk.composer.drawHold();
  clearTimeout(talk.patience);
  if (waits.length) talk.patience = setTimeout(() => talk.drawOpen(), waits[0].at + patience - now + 100);
  const last = list.at(-1), old = talk.again;
  talk.again = last?.state === 'failed' || last?.state === 'cancelled' ? last : null;
  if (old?.by !== talk.again?.by) for (const one of [old, talk.again]) if (one) talk.window.update(one.by);
}

/** The answer is wanted no more. */
export function cancel(talk) {
  for (const { id } of talk.waits) talk.chat.tell('bot.cancelled', talk.conversation, { inReplyTo: id });
  talk.drawNow();
  talk.composer.field.focus();
}

export function askAgain(talk, id) {
  talk.chat.tell('bot.retryRequested', talk.conversation, { inReplyTo: id });
  talk.drawNow();
  talk.toEnd();
}

// MARK: What can be done with a message

/** Fills the menu of a message. */
export function menu(chat, talk, row, list) {
  const { say } = chat, all = list.parentNode, item = (words, body) => h('button', { type: 'button', class: 'plain', onclick: body }, say(words));
  fill(list, row.author === chat.me ? [item('edit', () => edit(talk.composer, row)), item('takeBack', () => chat.use('sheets', 'takeBack', talk, row))] : null,
    item('copy', () => { all.open = false; all.firstChild.focus(); copy(chat, row.text ?? ''); }));
}

async function copy(chat, text) {
  try {
    await navigator.clipboard.writeText(text);
    chat.announce(chat.say('copied'));
  } catch { chat.announce(chat.say('notCopied')); }
}

/** Changes what was said, where one writes. */
function edit(composer, row) {
  const { say } = composer.chat;
  composer.kept = composer.edited ? composer.kept : composer.field.value;
  composer.edited = row;
  fill(composer.note, say('editingNow'), ' ', h('button', { type: 'button', class: 'inline', onclick: () => composer.endEdit() }, say('cancel')));
  composer.note.hidden = false;
  composer.write(row.text ?? '');
  composer.field.focus();
}
