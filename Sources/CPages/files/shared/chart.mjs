// Drawings of numbers: bars with their labels beside them, and lines without any. The numbers stand in a table, too.
import { h } from './dom.mjs';

/** A line through numbers; `label` says what it shows. */
export function spark(values, label, width = 120, height = 24) {
  const most = Math.max(1, ...values), step = values.length > 1 ? width / (values.length - 1) : width;
  const points = values.map((value, at) => `${at ? 'L' : 'M'}${(at * step).toFixed(1)} ${(height - 1 - value / most * (height - 2)).toFixed(1)}`);
  return h('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label, class: 'spark' },
    h('path', { d: points.join(' ') || `M0 ${height - 1}`, fill: 'none' }));
}

/** A row of bars, one for each number; `marked` ones in another colour. Drawn only: who reads it reads the list. */
export function bars(values, { width = 400, height = 24, marked = () => false, faded = () => false } = {}) {
  const most = Math.max(1, ...values), step = width / Math.max(1, values.length);
  return h('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true', class: 'bars' },
    values.map((value, at) => {
      const tall = value ? Math.max(3, value / most * height) : 1;
      return h('rect', {
        x: (at * step).toFixed(2), y: (height - tall).toFixed(2), width: Math.max(1, step - 1).toFixed(2), height: tall.toFixed(2),
        class: [marked(at) && 'marked', faded(at) && 'faded'].filter(Boolean).join(' ') || null,
      });
    }));
}

/** A table in which each number has its bar: `[{ label, count, href }]`. */
export function shares(caption, head, entries, percent) {
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
