// Signs beside words that a screen reader says.
import { h } from './dom.mjs';

const paths = {
  search: 'M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM15.5 15.5 21 21', plus: 'M12 4v16M4 12h16', back: 'M15 4 7 12l8 8', up: 'M5 15l7-7 7 7', down: 'M5 9l7 7 7-7',
  close: 'M6 6l12 12M18 6 6 18', more: 'M5 12h.01M12 12h.01M19 12h.01', clip: 'M8 12.5 15 5.5a3.2 3.2 0 0 1 4.500 4.500L10.500 19a5.200 5.200 0 0 1-7.300-7.300L12 3',
  voice: 'M12 3a3 3 0 0 1 3 3v6a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3zM5 11a7 7 0 0 0 14 0M12 18v3', bot: 'M5 9h14v10H5zM12 9V5M9 13v1M15 13v1', settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 4.500v5M9 14.500v5',
};

/** A sign, and what it means. */
export function sign(name, words) {
  return [h('svg', { class: 'sign', viewBox: '0 0 24 24', 'aria-hidden': 'true' }, h('path', { d: paths[name] })), h('span', { class: 'unseen' }, words)];
}
