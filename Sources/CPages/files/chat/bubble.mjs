// A row of a conversation as those who talk see it.
import { h, fill } from '../shared/dom.mjs';
import { prose, shown } from '../shared/prose.mjs';
import { excerpt, language } from '../shared/text.mjs';
import { sign } from '../shared/icons.mjs';

const pictures = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif']);
const soon = 300_000;

const part = (text) => excerpt(typeof text === 'string' ? text : JSON.stringify(text ?? ''), 80);

/** A text that may stand in several languages. */
const spoken = (chat, value) => typeof value === 'string' ? value : value?.[chat.words.language] ?? Object.values(value ?? {}).find((one) => typeof one === 'string') ?? '';

/** `talk` is asked for what it knows of the conversation. */
export function bubble(talk, row, before) {
  const { chat } = talk, { say } = chat, mine = row.author === chat.me;
  const day = chat.when(row.time, 'day'), isFirst = !before || chat.when(before.time, 'day') !== day;
  const isNext = before?.isMessage && row.isMessage && before.author === row.author && !isFirst && Date.parse(row.time) - Date.parse(before.time) < soon;
  const line = row.isMessage ? message(talk, row, mine, isNext ? null : face(chat, row.author, row.isBot)) : row.type === 'survey.offered' ? survey(talk, row) : notice(talk, row);
  return h('article', {
    tabindex: -1, 'data-id': row.id, 'data-key': row.key, hidden: line === null && !isFirst,
    'aria-label': row.isMessage ? `${chat.name(row.author)}, ${chat.when(row.time)}` : chat.when(row.time),
    class: ['row', row.isMessage ? mine ? 'mine' : 'theirs' : 'system', row.isBot && 'bot', isNext && 'next', talk.current === row.id && 'hit'].filter(Boolean).join(' '),
  },
  isFirst ? h('h2', { class: 'day' }, h('span', null, day)) : null,
  talk.unreadFrom === row.id ? h('h2', { class: 'day new', id: 'unread' }, h('span', null, say('unreadHere'))) : null,
  row.isMessage && !mine && !isNext ? h('p', { class: 'who' }, shown(chat.name(row.author)), row.isBot ? h('span', { class: 'kind' }, say('bot')) : null) : null,
  line);
}

/** Who it is, for the eye: a picture, else the first letter of the name. */
export const face = (chat, user, isBot) => h('span', { class: 'face', 'aria-hidden': 'true' },
  user === chat.me && chat.photo ? h('img', { src: address(chat.photo), alt: '' }) : isBot ? sign('bot', '') : [...excerpt(chat.called.get(user) ?? chat.names.get(user) ?? user ?? '·', 40)][0]);

function message(talk, row, mine, head) {
  const { chat } = talk, { say } = chat, time = h('span', { class: 'time' }, row.edits.length && !row.retracted ? [say('edited'), ' '] : null, chat.time(row.time, 'minute'));
  if (row.isErased || row.retracted) {
    return h('div', { class: 'line' }, head, h('div', { class: 'bubble gone' }, h('p', null, say(row.isErased ? 'erased' : mine ? 'youTookBack' : 'takenBack'))), time);
  }
  const reply = row.cause && talk.reply(row);
  const text = row.text ?? '';
  return [
    h('div', { class: 'line' }, head,
      h('div', { class: 'bubble', lang: text ? language(text) : null },
        reply ? h('p', { class: 'quote' }, h('a', { href: chat.link(['c', talk.conversation], { at: reply.id }) }, '↳ ', chat.name(reply.author), ': ', reply.retracted || reply.isErased ? '…' : part(reply.text ?? ''))) : null,
        row.attachments.map((file) => attachment(talk, row, file)),
        text ? prose(text, chat.marks.get(row.id)) : null,
        !text && !row.attachments.length ? h('p', null, say('unreadable')) : null),
      h('div', { class: 'meta' }, time, row.text || mine && row.text !== null ? menu(talk, row) : null)),
    row.edits.length ? h('details', { class: 'before' }, h('summary', null, say('before')), [row.first ?? '', ...row.edits.slice(0, -1).map((edit) => edit.text)].map((one) => h('p', { lang: language(one) }, shown(excerpt(one, 2_000))))) : null,
    row.corrections.map((edit) => h('div', { class: 'correction', lang: language(edit.text) }, h('p', { class: 'by' }, say('correction', chat.name(edit.author))), prose(edit.text))),
  ];
}

/** What can be done with a message; made when it is asked for, for there are many. */
function menu(talk, row) {
  const list = h('div');
  return h('details', { class: 'menu' }, h('summary', { 'aria-label': talk.chat.say('menu', part(row.text)), onclick: () => talk.chat.use('live', 'menu', talk, row, list) }, '⋯'), list);
}

export const address = (file) => `/v1/attachments/${encodeURIComponent(file.sha256)}`;

export const clip = (say) => sign('clip', `${say('attachment')}: `);

/** A size that the page may leave room for. */
const size = (value) => Number.isInteger(value) && value > 0 && value < 20_000 ? value : null;

function attachment(talk, row, file) {
  const { chat } = talk, { say } = chat;
  if (!/^[0-9a-f]{64}$/.test(file?.sha256 ?? '')) return h('p', { class: 'file' }, clip(say), shown(part(file?.name ?? file)));
  const type = String(file.mediaType ?? ''), name = part(file.name ?? type ?? '');
  if (pictures.has(type)) {
    let tries = 0;
    const picture = h('img', {
      src: address(file), loading: 'lazy', width: size(file.width), height: size(file.height),
      alt: file.alt ? part(file.alt) : say('photoOf', chat.name(row.author), chat.when(row.time)), onload: () => talk.stick(),
      // It may not be on this node yet: asked for again, and then left to who looks.
      onerror: () => {
        if (++tries <= 3) setTimeout(() => { if (picture.isConnected) picture.src = address(file); }, 700 * tries * tries);
        else picture.closest('a')?.replaceWith(h('p', { class: 'file' }, say('notHere', file.alt ? part(file.alt) : name), ' ', h('button', { type: 'button', class: 'inline', onclick: () => talk.window.update(row.id) }, say('again'))));
      },
    });
    return h('a', { class: 'picture', href: address(file), target: '_blank', rel: 'noopener' }, picture);
  }
  if (type.startsWith('audio/')) {
    return h('div', { class: 'voice' }, h('audio', { controls: true, preload: 'none', src: address(file), 'aria-label': say('voiceOf', chat.name(row.author), chat.when(row.time)) }),
      Number.isFinite(file.duration_ms) ? h('span', { class: 'time' }, say('seconds', Math.max(1, Math.round(file.duration_ms / 1000)))) : null,
      file.transcript ? h('p', null, shown(excerpt(file.transcript, 2_000))) : null);
  }
  return h('p', { class: 'file' }, clip(say), h('a', { href: address(file), download: file.name ? part(file.name) : true }, shown(name || say('file'))), Number.isFinite(file.bytes) ? ` · ${chat.words.bytes(file.bytes)}` : null);
}

/** A question with buttons; what was answered stands, and is locked. */
function survey(talk, row) {
  const { chat } = talk, of = row.event.data ?? {}, choice = talk.answer(row);
  const choices = (Array.isArray(of.choices) ? of.choices : []).slice(0, 20).filter((one) => typeof one?.code === 'string');
  return h('div', { class: 'survey', role: 'group', 'aria-label': chat.say('survey') },
    h('p', null, shown(excerpt(spoken(chat, of.text) || of.question || '', 300))),
    h('div', { class: 'choices' }, choices.map((one) => h('button', {
      type: 'button', 'aria-pressed': String(choice === one.code), disabled: choice !== null && choice !== one.code,
      onclick: () => { if (choice === null) talk.choose(row, one.code); },
    }, choice === one.code ? '✓ ' : null, shown(excerpt(spoken(chat, one.label) || one.code, 80))))),
    choice !== null ? h('p', { class: 'help' }, chat.say('thanks')) : null);
}

function notice(talk, row) {
  const { chat } = talk, { say } = chat, of = row.event.data ?? {}, who = chat.name(row.author);
  const words = (() => {
    if (row.isErased) return null;
    switch (row.type) {
      case 'conversation.started': return say('started', who, of.title ? part(of.title) : '');
      case 'conversation.renamed': return say('renamed', who, part(of.title));
      case 'conversation.closed': return say('closed');
      case 'participant.joined': return say('joined', chat.name(of.user ?? row.user));
      case 'participant.left': return say('left', chat.name(of.user ?? row.user));
      case 'survey.answered': return row.author === chat.me && row.cause ? null : say('answered', who, part(of.choice ?? of.rating ?? of.choices));
      case 'bot.failed': return of.final === false ? null : failure(chat, row);
      case 'bot.cancelled': return row.author === chat.me ? say('cancelled') : null;
      case 'bot.transcribed': return say('heard', who, excerpt(typeof of.text === 'string' ? of.text : '', 2_000));
      default: return null;
    }
  })();
  return words === null ? null : h('p', { class: row.type === 'bot.failed' ? 'note warn' : 'note' }, row.type === 'bot.failed' ? '⚠ ' : null, shown(words),
    talk.again?.by === row.id ? [' ', h('button', { type: 'button', class: 'inline', onclick: () => chat.coming.askAgain(talk, talk.again.id) }, say('askAgain'))] : null);
}

/** Why there is no answer, as far as its code is known here. */
export function failure(chat, row) {
  const key = `failed.${row.event.data?.code}`;
  return `${chat.name(row.author)}: ${chat.say(key in chat.words.strings ? key : 'failed.unknown')}`;
}
