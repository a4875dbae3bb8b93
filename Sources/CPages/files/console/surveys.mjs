// Surveys: how often each answer was given.
import { h, fill } from '../shared/dom.mjs';
import { excerpt } from '../shared/text.mjs';
import { shown } from '../shared/prose.mjs';
import { paged } from './paged.mjs';
import { quoted } from './app.mjs';
import './seldom.mjs';

/** A table in which each number has its bar: `[{ label, count, href }]`. */
function shares(caption, head, entries, percent) {
  const sum = entries.reduce((all, one) => all + one.count, 0), most = Math.max(1, ...entries.map((one) => one.count));
  return h('table', { class: 'shares' }, h('caption', null, caption),
    h('thead', null, h('tr', null, head.map((text, at) => h('th', { scope: 'col', class: at ? 'number' : null }, text)), h('td', { 'aria-hidden': 'true' }))),
    h('tbody', null, entries.map((one) => h('tr', null,
      h('th', { scope: 'row' }, one.label),
      h('td', { class: 'number' }, String(one.count)),
      h('td', { class: 'number' }, percent(sum ? one.count / sum : 0)),
      h('td', { class: 'bar', 'aria-hidden': 'true' },
        h('svg', { viewBox: '0 0 200 12', preserveAspectRatio: 'none' },
          h('rect', { x: 0, y: 0, width: Math.max(1, one.count / most * 200).toFixed(1), height: 12, rx: 2 })))))));
}

export async function surveys(ctx) {
  const { t } = ctx;
  ctx.title(t('nav.surveys'));
  ctx.commands('syncctl survey', ctx.curl(['surveys'], {}));
  const { box, ready } = paged(ctx, t('nav.surveys'), [t('survey'), { text: t('answers'), isNumber: true }], (cursor) => ctx.lines(['surveys'], { limit: 100, cursor }), (line) => [
    h('th', { scope: 'row' }, h('a', { href: ctx.link(['surveys', line.survey]) }, shown(excerpt(line.survey, 80)))), h('td', { class: 'number' }, ctx.number(line.answers)),
  ], ctx.empty(t('noSurveys')));
  fill(ctx.body, ctx.head(t('nav.surveys')), box);
  await ready;
}

export async function survey(ctx) {
  const [name] = ctx.args, { t, query } = ctx, asOf = query.get('as_of'), by = asOf ? null : query.get('by');
  ctx.title(name);
  const asked = { as_of: asOf, by, offset: by === 'day' ? offset() : null };
  ctx.commands(`syncctl survey ${quoted(name)}${by ? ` --by ${by}` : ''}`, ctx.curl(['surveys', name], asked));
  const counts = [];
  let cursor;
  do {
    const page = await ctx.lines(['surveys', name], { ...asked, limit: 500, cursor });
    counts.push(...page.lines);
    cursor = page.end.next;
  } while (cursor && counts.length < 5_000);
  const date = h('input', { type: 'datetime-local', id: 'as-of', step: 1, value: asOf ? local(asOf) : null, onchange: () => ctx.go(ctx.link(['surveys', name], { as_of: date.value ? new Date(date.value).toISOString() : null })) });
  const choose = h('select', { id: 'by', onchange: () => ctx.go(ctx.link(['surveys', name], { by: choose.value || null })) },
    ['', 'day', 'bot', 'persona', 'conversation'].map((one) => h('option', { value: one, selected: one === (by ?? '') }, t(`by.${one || 'all'}`))));
  const questions = group(counts);
  // A conversation is opened, to be looked at.
  const title = ({ question, group: of }) => [by ? [of && by === 'conversation' ? h('a', { href: ctx.link(['c', of]) }, shown(excerpt(of, 80))) : shown(excerpt(of ?? '–', 80)), ' · '] : null, shown(excerpt(question, 120))];
  const percent = (part) => `${Math.round(part * 100)} %`;
  fill(ctx.body, ctx.head(shown(excerpt(name, 120))), h('p', { class: 'go' }, h('label', { for: 'as-of' }, t('asOf')), ' ', date, ' ', h('label', { for: 'by' }, t('by')), ' ', choose),
    cursor ? h('p', { class: 'note' }, t('notAll', counts.length)) : null,
    [...questions.values()].map((answers) => shares(title(answers[0]), [t('answer'), t('count'), t('share')], sorted(answers).map((one) => ({ label: shown(excerpt(one.value, 80)), count: one.count })), percent)),
    counts.length ? null : ctx.empty(t('noAnswers')));
}

/** Numbers ascend; others begin with the most frequent. */
function sorted(answers) {
  const isNumeric = answers.every((one) => one.value.trim() !== '' && Number.isFinite(Number(one.value)));
  return answers.toSorted((a, b) => isNumeric ? Number(a.value) - Number(b.value) : b.count - a.count);
}

function group(counts) {
  const found = new Map();
  for (const one of counts) {
    const key = JSON.stringify([one.group, one.question]);
    if (found.has(key)) found.get(key).push(one); else found.set(key, [one]);
  }
  return found;
}

/** How far this browser's clock is ahead of UTC, as `+09:00`. */
function offset() {
  const minutes = -new Date().getTimezoneOffset(), two = (number) => String(Math.trunc(number)).padStart(2, '0');
  return (minutes < 0 ? '-' : '+') + two(Math.abs(minutes) / 60) + ':' + two(Math.abs(minutes) % 60);
}

const local = (time) => { const date = new Date(time); return new Date(date - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19); };
