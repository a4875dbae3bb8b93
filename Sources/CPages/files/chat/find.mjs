// Search in what one may read, and what one has looked for.
import { h, fill } from '../shared/dom.mjs';
import { excerpt, plain } from '../shared/text.mjs';
import { sign } from '../shared/icons.mjs';
import './seldom.mjs';

const around = 40;

/** A text around its first mark. */
function piece(text, ranges) {
  const from = Math.max(0, (ranges[0]?.[0] ?? 0) - around), to = Math.min(text.length, from + 160), parts = [];
  let at = from;
  for (const [start, end] of ranges) {
    if (start < at || end > to) continue;
    parts.push(plain(text.slice(at, start)), h('mark', null, plain(text.slice(start, end))));
    at = end;
  }
  return [from ? '…' : null, parts, plain(text.slice(at, to)), to < text.length ? '…' : null];
}

/** Out of the search: all that is said in the conversation stands there again, without marks. */
const leave = (chat, conversation) => h('a', { class: 'tool', href: chat.link(conversation ? ['c', conversation] : []), onclick: () => { chat.marks.clear(); chat.hits = null; } }, sign('close', chat.say('cancel')));

/** Above a conversation: which of what was found it is. */
function drawHits(talk) {
  const { chat } = talk, { say } = chat, list = chat.hits?.list ?? [], at = list.findIndex((one) => one.id === talk.current);
  talk.hitBar.hidden = at < 0;
  if (at < 0) return;
  const to = (place, image, words) => list[place] ? h('a', { class: 'tool', href: chat.link(['c', list[place].conversation], { at: list[place].id }) }, sign(image, words)) : null;
  fill(talk.hitBar, h('span', null, say('hit', excerpt(chat.hits.q, 30), at + 1, list.length)), to(at - 1, 'up', say('previousHit')), to(at + 1, 'down', say('nextHit')),
    h('a', { class: 'tool', href: chat.link(['search'], { q: chat.hits.q, in: chat.hits.within }) }, say('allHits')), leave(chat, talk.conversation));
}

export function find(chat, query) {
  const { say } = chat, within = query.get('in');
  const field = h('input', { type: 'search', id: 'q', name: 'q', 'aria-label': say('search'), placeholder: say('searchWords'), value: query.get('q') ?? '' });
  const here = within ? h('input', { type: 'checkbox', id: 'here', checked: true }) : null;
  const state = h('p', { role: 'status', class: 'help' }), results = h('ol', { class: 'results' }), recent = h('div', { class: 'recent' });
  let cursor = null, found = [], generation = 0;
  const further = h('button', { type: 'button', class: 'more', hidden: true, onclick: () => tried() }, say('more'));

  async function load(n = 0) {
    const mine = generation, q = field.value.trim();
    const page = await chat.lines(['search'], { q, conversation: here?.checked ? within : null, type: ['message.posted', 'bot.replied', 'bot.transcribed'], limit: 30, cursor });
    if (mine !== generation) return;
    cursor = page.end.more ? page.end.next : null;
    if (cursor && !page.lines.length && n < 20) return load(n + 1);
    for (const line of page.lines) {
      const conversation = line.event.subject?.slice('conversation/'.length);
      if (!conversation) continue;
      const ranges = line.ranges.map((one) => one.utf16), one = { id: line.event.id, conversation, ranges };
      found.push(one);
      chat.marks.set(one.id, ranges);
      results.append(h('li', null, h('a', { class: 'found', href: chat.link(['c', conversation], { at: one.id }) },
        h('span', { class: 'by' }, [...new Set([chat.name(line.event.author ?? line.event.user), chat.rooms.name(conversation)])].join(' · '), ' · ', chat.time(line.time, 'short')),
        h('span', null, piece(line.text, ranges)))));
    }
    further.hidden = !cursor;
    fill(state, found.length || cursor ? say('found', found.length, Boolean(cursor)) : say('nothingFound'));
    chat.hits = { q, within: here?.checked ? within : null, list: found, draw: drawHits };
  }

  /** Loads, or says why nothing came. */
  async function tried() {
    try { await load(); } catch (error) { if (error.status === 401) chat.failed(error); else fill(state, error.status === 0 ? say('unreachable') : error.message); }
  }

  async function run() {
    const q = field.value.trim();
    generation += 1;
    cursor = null;
    found = [];
    chat.marks.clear();
    results.replaceChildren();
    further.hidden = true;
    fill(state);
    if (!q) return drawRecent();
    recent.replaceChildren();
    history.replaceState(null, '', chat.link(['search'], { q, in: here?.checked ? within : null }));
    await tried();
  }

  async function drawRecent() {
    try {
      const { lines } = await chat.lines(['users', chat.me, 'searches'], { scope: 'messages', limit: 20 });
      fill(recent, h('h2', null, say('recent')), lines.length ? h('ul', null, lines.map((one) => h('li', null,
        h('button', { type: 'button', class: 'plain', onclick: () => { field.value = one.query; run(); } }, excerpt(one.query, 60)),
        h('button', { type: 'button', class: 'plain tool', onclick: async () => { await chat.ask('DELETE', ['users', chat.me, 'searches'], { query: one.query, scope: 'messages' }); await drawRecent(); field.focus(); } },
          sign('close', say('forget', excerpt(one.query, 60))))))) : h('p', { class: 'help' }, say('noRecent')));
    } catch (error) { if (error.status === 401) chat.failed(error); }
  }

  const form = h('form', { role: 'search', onsubmit: async (event) => {
    event.preventDefault();
    const q = field.value.trim();
    await run();
    // Kept
    if (q) chat.ask('PUT', ['users', chat.me, 'searches'], {}, { query: q.slice(0, 300), scope: 'messages' }).catch(() => {});
  } }, field, h('button', { type: 'submit', class: 'main' }, say('searchNow')), leave(chat, within), here ? h('label', null, here, ' ', say('onlyHere', chat.rooms.name(within))) : null);
  return {
    name: say('search'), keepsFocus: true,
    element: h('section', { class: 'page' }, h('header', { class: 'head' }, chat.back(), h('h1', { tabindex: -1 }, say('search'))), form, state, results, further, recent),
    async show() { field.focus(); field.select(); await run(); },
  };
}
