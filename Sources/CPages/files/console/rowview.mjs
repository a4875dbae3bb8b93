// A row of a conversation or a history as a page shows it.
import { h } from '../shared/dom.mjs';
import { shown, prose } from '../shared/prose.mjs';
import { excerpt, language, plain } from '../shared/text.mjs';
import { diff } from '../shared/diff.mjs';

/** What an edit changed. */
export function changes(before, after) {
  return h('p', { class: 'diff' }, diff(before, after).map((part) => part.gone !== undefined ? h('del', null, shown(part.gone))
    : part.new !== undefined ? h('ins', null, shown(part.new)) : h('span', null, shown(shorter(part.same)))));
}

/** What is the same needs no more than its ends. */
const shorter = (text) => text.length > 120 ? `${text.slice(0, 40)} … ${text.slice(-40)}` : text;

const folded = 40;

/** An article. `options`: `state` (`same`, `changed`, `later`), `now`, `ranges`, `proof` (`{ kind, text }`), `byID`. */
export function article(ctx, row, options) {
  const { t } = ctx, isSystem = !row.isMessage;
  const who = h('p', { class: 'who' }, h('a', { href: ctx.link(['u', row.author]) }, shown(excerpt(row.author, 60))),
    row.isBot ? h('span', { class: 'badge' }, t('bot')) : null,
    row.user !== row.author && !row.isBot ? h('span', { class: 'of' }, t('inHistoryOf', excerpt(row.user, 40))) : null);
  const body = isSystem ? system(ctx, row) : message(ctx, row, options);
  return h('article', {
    tabindex: -1, id: `e-${row.id}`, 'data-id': row.id, 'data-key': options.key, 'aria-label': label(ctx, row),
    class: ['row', isSystem ? 'system' : 'message', row.isBot && 'bot', options.state, options.isHit && 'hit'].filter(Boolean).join(' '),
  },
  options.day ? h('h2', { class: 'day' }, h('span', null, options.day)) : null,
  h('div', { class: 'when' }, ctx.time(row.time, 'clock'), options.proof ? mark(options.proof) : null),
  h('div', { class: 'said' }, isSystem ? null : who, body),
  h('div', { class: 'margin' }, margin(ctx, row, options)));
}

function label(ctx, row) {
  return `${excerpt(row.author, 40)}, ${ctx.when(row.time)}`;
}

/** Green is for what was computed here alone. */
export function mark({ kind, text }) {
  const sign = { proven: '✓', partly: '◐', broken: '✗' }[kind];
  return h('span', { class: `mark ${kind}`, title: text }, h('span', { 'aria-hidden': 'true' }, sign), h('span', { class: 'unseen' }, text));
}

function message(ctx, row, options) {
  const { t } = ctx, parts = [];
  if (row.cause && options.byID?.has(row.cause)) {
    const cause = options.byID.get(row.cause);
    if (cause.isMessage && !options.isNext) {
      parts.push(h('p', { class: 'quote' }, h('a', { href: ctx.permalink(row.cause), onclick: (event) => { event.preventDefault(); ctx.focusRow(row.cause); } },
        '↳ ', excerpt(cause.author, 30), ': ', cause.isErased || cause.retracted ? '…' : excerpt(cause.text ?? '', 60))));
    }
  }
  if (row.isErased) parts.push(h('div', { class: 'bubble gone' }, h('p', null, t('erased'))));
  else if (row.text === null && row.attachments.length === 0) parts.push(h('div', { class: 'bubble odd' }, h('p', null, t('unreadable')), data(row.event.data)));
  else if (row.retracted && !options.revealed) {
    parts.push(h('div', { class: 'bubble retracted' }, h('p', null, t('retracted'), ' ',
      h('button', { type: 'button', class: 'inline', onclick: () => ctx.reveal(row.id) }, t('reveal')))));
  } else {
    const text = row.text ?? '', lines = text.split('\n').length > folded || text.length > 4_000;
    const inside = prose(text, options.ranges);
    parts.push(h('div', { class: `bubble${row.retracted ? ' retracted' : ''}`, lang: language(text) },
      row.attachments.length ? h('ul', { class: 'files' }, row.attachments.map((file) => h('li', null, '📎 ', attachment(ctx, file)))) : null,
      lines && !options.isOpen ? [h('div', { class: 'folded' }, inside), h('button', { type: 'button', class: 'inline', onclick: () => ctx.open(row.id) }, t('unfold', text.length))] : inside));
  }
  for (const edit of row.corrections) {
    parts.push(h('div', { class: 'correction', lang: language(edit.text) },
      h('p', { class: 'by' }, t('correctionBy', excerpt(edit.author, 40)), ' · ', ctx.time(edit.time, 'clock')),
      row.retracted && !options.revealed || row.isErased ? h('p', null, '…') : changes(row.text ?? '', edit.text)));
  }
  for (const other of row.retractions) {
    parts.push(h('div', { class: 'correction' }, h('p', { class: 'by' }, t('retractionBy', excerpt(other.by, 40)), ' · ', ctx.time(other.time, 'clock')),
      other.reason ? h('p', null, shown(excerpt(other.reason, 200))) : null));
  }
  return parts;
}

function attachment(ctx, file) {
  if (typeof file !== 'object' || file === null) return shown(excerpt(JSON.stringify(file), 100));
  const size = Number(file.bytes ?? file.size);
  return [shown(excerpt(String(file.name ?? file.type ?? '?'), 100)), Number.isFinite(size) ? ` · ${ctx.bytes(size)}` : null];
}

/** The members of a payload, for eyes. */
function data(value) {
  return h('pre', { class: 'data', tabindex: 0 }, shown(JSON.stringify(value, null, 1)?.slice(0, 4_000) ?? ''));
}

function system(ctx, row) {
  const { t } = ctx, who = excerpt(row.author, 40), of = row.event.data ?? {};
  const name = (value) => excerpt(typeof value === 'string' ? value : JSON.stringify(value ?? ''), 80);
  const words = (() => {
    if (row.isErased) return t('sys.erased', row.type);
    switch (row.type) {
      case 'conversation.started': return t('sys.started', who, of.title ? name(of.title) : '');
      case 'conversation.renamed': return t('sys.renamed', who, name(of.title));
      case 'participant.joined': return t('sys.joined', name(of.user ?? row.user));
      case 'participant.left': return t('sys.left', name(of.user ?? row.user));
      case 'message.edited': return t('sys.edited', who);
      case 'message.retracted': return t('sys.retracted', who);
      case 'profile.changed': return t('sys.profile', who, Object.keys(of.fields ?? {}).map(name).join(', '));
      case 'survey.answered': return t('sys.survey', name(of.survey), name(of.question), name(of.choice ?? of.rating ?? of.choices));
      case 'bot.failed': return t('sys.failed', who, name(of.reason));
      default: return null;
    }
  })();
  const link = row.amends ? h('a', { href: ctx.permalink(row.amends), onclick: (event) => { event.preventDefault(); ctx.focusRow(row.amends); } }, t('sys.message')) : null;
  if (words !== null) return h('p', { class: `line ${row.type === 'bot.failed' ? 'warn' : ''}` }, row.type === 'bot.failed' ? '⚠ ' : null, words, link ? [' ', link] : null);
  return h('details', { class: 'line' }, h('summary', null, plain(row.type) || t('sys.opaque'), ' · ', who), data(row.isOpaque ? row.event : of));
}

function margin(ctx, row, options) {
  const { t } = ctx, notes = [], now = options.now;
  if (options.state === 'later') notes.push(h('p', { class: 'note changed' }, t('notYet')));
  if (options.state === 'changed') {
    const last = now.edits.at(-1) ?? now.corrections.at(-1);
    if (now.retracted && !row.retracted) notes.push(h('p', { class: 'note changed' }, t('retractedLater'), ' ', excerpt(now.retracted.by, 30), ' · ', ctx.time(now.retracted.time, 'clock')));
    else if (now.isErased && !row.isErased) notes.push(h('p', { class: 'note changed' }, t('erasedLater')));
    else if (last) {
      const isOwn = now.edits.length > row.edits.length;
      notes.push(h('p', { class: 'note changed' }, isOwn ? t('editedLater') : t('correctedLater'), ' ', excerpt(last.author, 30), ' · ', ctx.time(last.time, 'clock')));
      if (isOwn && now.text !== null && row.text !== null) notes.push(h('details', { class: 'versions' }, h('summary', null, t('compareNow')), changes(row.text, now.text)));
    }
  }
  if (row.edits.length && !row.isErased) {
    const last = row.edits.at(-1);
    notes.push(h('p', { class: 'note changed' }, t('editedByAuthor'), ' ', excerpt(last.author, 30), ' · ', ctx.time(last.time, 'clock')));
    if (!row.retracted || options.revealed) {
      notes.push(h('details', { class: 'versions', open: options.isPrint }, h('summary', null, t('compareFirst', row.edits.length)),
        row.edits.map((edit, at) => [row.edits.length > 1 ? h('p', { class: 'by' }, ctx.time(edit.time, 'clock')) : null, changes(at ? row.edits[at - 1].text : row.first ?? '', edit.text)])));
    }
  }
  if (row.corrections.length) notes.push(h('p', { class: 'note changed' }, t('corrected', row.corrections.length)));
  if (row.moreAmendments) notes.push(h('p', { class: 'note' }, t('moreAmendments', row.moreAmendments)));
  if (row.retracted) {
    notes.push(h('p', { class: 'note taken' }, t('takenBack'), ' ', excerpt(row.retracted.by, 30), ' · ', ctx.time(row.retracted.time, 'clock')));
    if (row.retracted.reason) notes.push(h('p', { class: 'note' }, shown(excerpt(row.retracted.reason, 200))));
  }
  if (row.isBot && row.isMessage) {
    const of = row.event.data ?? {};
    const persona = [of.persona?.name, of.persona?.version ?? of.persona].filter((one) => typeof one === 'string').join(' ');
    const facts = [of.model, persona && t('persona', plain(persona)), Number.isFinite(of.duration_ms) && t('seconds', of.duration_ms / 1000)].filter(Boolean).map((fact) => excerpt(String(fact), 40));
    if (facts.length && options.isModelNew) notes.push(h('p', { class: 'note' }, facts.join(' · ')));
  }
  const late = row.recorded !== null ? row.recorded - Date.parse(row.time) : 0;
  if (late > 3_600_000 && !options.isImported) notes.push(h('p', { class: 'note' }, t('recordedLater'), ' ', ctx.time(new Date(row.recorded).toISOString(), 'short')));
  return notes;
}
