// The node itself: how it is, its peers, what views cannot read, what was erased.
import { h, fill, announce } from '../shared/dom.mjs';
import { excerpt } from '../shared/text.mjs';
import { shown } from '../shared/prose.mjs';
import { paged } from './paged.mjs';
import './seldom.mjs';

/** A line through numbers; `label` says what it shows. */
function spark(values, label, width = 120, height = 24) {
  const most = Math.max(1, ...values), step = values.length > 1 ? width / (values.length - 1) : width;
  const points = values.map((value, at) => `${at ? 'L' : 'M'}${(at * step).toFixed(1)} ${(height - 1 - value / most * (height - 2)).toFixed(1)}`);
  return h('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label, class: 'spark' },
    h('path', { d: points.join(' ') || `M0 ${height - 1}`, fill: 'none' }));
}

/** How long: in the largest unit that says enough. */
function span({ t }, ms) {
  for (const [unit, size] of [['day', 86_400_000], ['hour', 3_600_000], ['minute', 60_000], ['second', 1_000]]) {
    if (ms >= size) return t(`span.${unit}`, Math.floor(ms / size));
  }
  return t('span.second', 0);
}

const pause = 5_000;

// What the node was asked for since the page was opened: positions by time, for the line of what came in.
const seen = [];
const kept = 720;

function note(position) {
  seen.push({ at: Date.now(), position });
  if (seen.length > kept) seen.shift();
}

/** Events a second, between one answer and the next. */
function rates() {
  return seen.slice(1).map((one, at) => {
    const seconds = (one.at - seen[at].at) / 1000;
    return seconds > 0 ? Math.max(0, one.position - seen[at].position) / seconds : 0;
  });
}

const sign = { ok: '●', degraded: '◐', starting: '◌', failed: '✗' };

export async function overview(ctx) {
  const { t } = ctx;
  ctx.title(t('nav.overview'));
  ctx.commands('syncctl status', 'syncctl doctor', ctx.curl(['status'], {}));
  const box = h('div');
  fill(ctx.body, ctx.head(t('nav.overview')), box);
  let last = '', told = '';
  await ctx.every(pause, async () => {
    const [status, erasures] = await Promise.all([ctx.object(['status']), ctx.can('listErasures') ? ctx.lines(['erasures']) : null]);
    note(status.position);
    const drawn = JSON.stringify([status, seen.length]);
    if (drawn === last) return;
    if (last && told !== status.state) announce(t(`state.${known(status.state)}`));
    [last, told] = [drawn, status.state];
    const had = document.activeElement?.dataset?.key;
    fill(box, draw(ctx, status, erasures?.lines ?? []));
    if (had) box.querySelector(`[data-key="${CSS.escape(had)}"]`)?.focus({ preventScroll: true });
  });
}

function draw(ctx, status, erasures) {
  const { t } = ctx, notices = (status.notices ?? []).filter((one) => !one.settled);
  const told = notices.find((n) => n.code === 'APPENDS_REFUSED')?.text ?? '', problems = (status.problems ?? []).filter((p) => !told.includes(p));
  const good = status.state === 'ok', away = (status.peers ?? []).filter((one) => one.state !== 'connected' && one.state !== 'paused');
  const behind = status.position - status.views, under = erasures.filter((one) => one.state !== 'applied' || one.waiting?.length);
  const rate = rates(), minute = rate.slice(-12);
  const perSecond = minute.length ? minute.reduce((sum, one) => sum + one, 0) / minute.length : 0;
  return [
    h('section', { class: `state ${good ? 'good' : 'not'}` },
      h('p', { class: 'word' }, h('span', { 'aria-hidden': 'true' }, sign[status.state] ?? '◐'), ' ', t(`state.${known(status.state)}`)),
      h('p', null, h('code', null, excerpt(status.software ?? '', 40)), ' · ', h('code', { title: status.node }, status.node.slice(0, 16), '…')),
      problems.length || notices.length ? null : away.length ? h('p', null, t('awayPeers', away.map((one) => excerpt(one.name, 30)).join(', '))) : h('p', null, t('noProblems'))),
    problems.length || notices.length ? h('section', null, h('h2', null, t('problems', problems.length + notices.length)),
      problems.map((text) => h('p', { class: 'finding' }, '⚠ ', shown(excerpt(typeof text === 'string' ? text : text.text ?? JSON.stringify(text), 300)))), notices.map((one) => finding(ctx, one))) : null,
    h('dl', { class: 'figures' },
      figure(t('position'), ctx.number(status.position), t('figure.position')),
      figure(t('rate'), [t('perSecond', perSecond < 10 ? perSecond.toFixed(1) : ctx.number(Math.round(perSecond))), ' ', rate.length > 1 ? spark(rate.slice(-120), t('rateSince', span(ctx, Date.now() - seen[0].at))) : null], t('figure.rate')),
      figure(t('views'), behind > 0 ? t('behind', ctx.number(behind)) : t('upToDate'), status.rebuilding ? t('rebuilding') : status.views_proven ? t('viewsProven', ctx.number(status.views_proven.position ?? 0)) : t('figure.views')),
      figure(t('quarantined'), ctx.number(status.quarantined ?? 0), ctx.can('listQuarantine') && status.quarantined ? h('a', { href: ctx.link(['quarantine']), 'data-key': 'quarantine' }, t('which')) : t('figure.quarantined')),
      status.api ? figure(t('connections'), ctx.number(status.api.connections), t('figure.refused', ctx.number(status.api.refused))) : null,
      erasures.length ? figure(t('nav.erasures'), under.length ? t('erasuresOpen', under.length) : t('erasuresDone', erasures.length), h('a', { href: ctx.link(['erasures']), 'data-key': 'erasures' }, t('which'))) : null),
    h('section', null, h('h2', null, t('nav.nodes')), peers(ctx, status.peers ?? [])),
  ];
}

const known = (state) => ['ok', 'degraded', 'starting', 'failed'].includes(state) ? state : 'other';

function figure(name, value, more) {
  return h('div', null, h('dt', null, name), h('dd', { class: 'value' }, value), more ? h('dd', { class: 'more' }, more) : null);
}

function finding(ctx, one) {
  return h('article', { class: `finding ${one.severity}` }, h('h3', null, h('code', null, one.code), one.subject ? [' ', shown(excerpt(one.subject, 80))] : null),
    h('p', null, shown(excerpt(one.text ?? '', 500))), one.action ? h('p', { class: 'action' }, shown(excerpt(one.action, 500))) : null,
    one.at ? h('p', { class: 'aside' }, ctx.time(one.at, 'long')) : null);
}

/** Peers in both directions, and why not. */
function peers(ctx, list) {
  const { t } = ctx;
  if (!list.length) return ctx.empty(t('noPeers'), 'syncctl peers invite');
  return h('table', { class: 'list' }, h('caption', { class: 'unseen' }, t('nav.nodes')), h('thead', null, h('tr', null,
    [t('name'), t('state'), t('lacks'), t('owes'), t('roundTrip'), t('heard'), t('why')].map((head) => h('th', { scope: 'col' }, head)))),
  h('tbody', null, list.map((one) => h('tr', null,
    h('th', { scope: 'row' }, shown(excerpt(one.name, 40)), ' ', h('code', { class: 'aside', title: one.node }, one.node.slice(0, 8))),
    h('td', null, h('span', { class: `mark ${one.state === 'connected' ? one.lacks || one.owes ? 'partly' : 'calm' : one.state === 'paused' ? 'partly' : 'broken'}` }, one.state === 'connected' ? '●' : one.state === 'paused' ? '◌' : '✗'), ' ', t(`peer.${peerState(one.state)}`)),
    h('td', null, one.lacks ? [t('events', ctx.number(one.lacks)), one.lacks_bytes ? ` · ${ctx.bytes(one.lacks_bytes)}` : null, one.lacks_oldest_ms ? ` · ${span(ctx, one.lacks_oldest_ms)}` : null] : '0'),
    h('td', null, one.owes ? t('events', ctx.number(one.owes)) : '0'), h('td', null, one.rtt_ms === undefined ? '–' : `${one.rtt_ms} ms`, one.clock_offset_ms ? ` · ${one.clock_offset_ms > 0 ? '+' : ''}${one.clock_offset_ms} ms` : null),
    h('td', null, one.silent_ms === undefined ? '–' : t('ago', span(ctx, one.silent_ms))), h('td', null, one.error ? shown(excerpt(one.error, 120)) : one.retry_in_ms ? t('retryIn', span(ctx, one.retry_in_ms)) : '–')))));
}

const peerState = (state) => ['connected', 'connecting', 'paused', 'disconnected'].includes(state) ? state : 'disconnected';

/** Origins with two histories: the first event in which they differ, and how far each is signed. */
function forks(ctx, list) {
  const { t } = ctx, branch = (one) => h('p', null, h('code', { title: one.leaf }, one.leaf.slice(0, 8)), ' · ', t('signedUpTo', ctx.number(one.signed)), one.here ? [' · ', t('historyHere')] : null);
  if (!list.length) return ctx.empty(t('noForks'));
  return [h('p', { class: 'help' }, t('forksHelp')), h('table', { class: 'list' }, h('caption', { class: 'unseen' }, t('forks')), h('thead', null, h('tr', null,
    [t('origin'), t('sequence'), t('time'), t('histories')].map((head) => h('th', { scope: 'col' }, head)))),
  h('tbody', null, list.map((one) => h('tr', null, h('th', { scope: 'row' }, h('code', { title: one.origin }, one.origin.slice(0, 16), '…')), h('td', { title: `${one.name}.json` }, ctx.number(one.sequence)),
    h('td', null, one.at ? ctx.time(one.at, 'long') : '–'), h('td', null, one.branches.map(branch))))))];
}

export async function nodes(ctx) {
  const { t } = ctx, box = h('div');
  ctx.title(t('nav.nodes'));
  ctx.commands('syncctl peers list', 'syncctl peers ping NAME', ctx.can('listForks') ? 'syncctl forks' : null, ctx.curl(['peers'], {}));
  fill(ctx.body, ctx.head(t('nav.nodes')), h('p', { class: 'help' }, t('nodesHelp')), box);
  let last = '';
  await ctx.every(pause, async () => {
    const [found, forked] = await Promise.all([ctx.object(['peers']), ctx.can('listForks') ? ctx.lines(['forks']) : null]);
    const drawn = JSON.stringify([found, forked?.lines]);
    if (drawn === last) return;
    last = drawn;
    fill(box, peers(ctx, found.peers), found.pending?.length ? [h('h2', null, t('pending')), h('ul', null, found.pending.map((one) => h('li', null, h('code', null, shown(excerpt(JSON.stringify(one), 200))))))] : null,
      found.invitations ? h('p', null, t('invitations', found.invitations)) : null, forked ? [h('h2', null, t('forks')), forks(ctx, forked.lines)] : null);
  });
}

export async function quarantine(ctx) {
  const { t } = ctx, total = h('p', { class: 'help' });
  ctx.title(t('nav.quarantine'));
  ctx.commands('syncctl quarantine list', 'syncctl quarantine retry', ctx.curl(['quarantine'], {}));
  const { box, ready } = paged(ctx, t('nav.quarantine'), [{ text: t('position'), isNumber: true }, t('type'), t('view'), t('reason'), 'origin / seq'], async (after) => {
    const page = await ctx.lines(['quarantine'], { limit: 200, after });
    fill(total, t('quarantineHelp', ctx.number(page.end.quarantined)));
    // Where an event is refused by several views, all of its lines come together.
    return { lines: page.lines, end: { next: new Set(page.lines.map((line) => line.position)).size >= 200 ? String(page.lines.at(-1).position) : undefined } };
  }, (line) => [
    h('th', { scope: 'row', class: 'number' }, ctx.number(line.position)), h('td', null, shown(excerpt(line.event_type ?? '–', 60))), h('td', null, line.view === '*' ? t('allViews') : line.view),
    h('td', null, shown(excerpt(line.reason, 300))), h('td', null, h('code', { class: 'aside', title: line.id ?? '' }, `${line.origin.slice(0, 8)}… / ${line.sequence}`)),
  ], ctx.empty(t('noQuarantine')));
  fill(ctx.body, ctx.head(t('nav.quarantine')), total, box);
  await ready;
}

export async function erasures(ctx) {
  const { t } = ctx;
  ctx.title(t('nav.erasures'));
  ctx.commands('syncctl erase status', ctx.curl(['erasures'], {}));
  const names = new Map([[ctx.me.node, ctx.node.name], ...(ctx.node.peers ?? []).map((one) => [one.node, one.name])]);
  const name = (node) => h('span', { title: node }, names.get(node) ?? node.slice(0, 8));
  const found = await ctx.lines(['erasures']);
  fill(ctx.body, ctx.head(t('nav.erasures')), h('p', { class: 'help' }, t('erasuresHelp')), found.lines.length ? found.lines.map((one) => h('article', { class: 'card erasure' },
    h('h2', null, one.user ? t('erasure.user', excerpt(one.user, 60)) : one.conversation ? t('erasure.conversation', excerpt(one.conversation, 60)) : t('erasure.events', one.events ?? 0)),
    h('p', null, ctx.time(one.at, 'long'), one.who ? [' · ', shown(excerpt(one.who, 60))] : null, ' · ', t('recordedAt'), ' ', name(one.node)), one.reason ? h('p', null, shown(excerpt(one.reason, 300))) : null,
    h('ul', null, h('li', null, name(ctx.me.node), ': ', t(`erasure.${['under_way', 'views', 'applied', 'unconfirmed'].includes(one.state) ? one.state : 'under_way'}`), one.of ? ` ${one.done}/${one.of}` : null),
      (one.confirmed ?? []).map((other) => h('li', null, name(other.node), ': ', t('erasure.applied'), ' · ', ctx.time(other.at, 'long'))),
      (one.waiting ?? []).map((node) => h('li', null, name(node), ': ', t('erasure.waiting')))))) : ctx.empty(t('noErasures'), 'syncctl erase user USER --plan'));
}
