// A drawing of numbers. The numbers stand beside it, too.
import { h } from './dom.mjs';

/** Bars, one a number; `marked` ones in another colour. Who reads reads the list. */
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
