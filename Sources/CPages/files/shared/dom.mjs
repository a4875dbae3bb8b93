// The one way in which elements are made: text only ever becomes text nodes.

const SVG = 'http://www.w3.org/2000/svg';
const drawn = new Set(['svg', 'g', 'rect', 'path', 'line', 'circle', 'text', 'title:svg']);

/** An element. `on…` attributes are functions; null, undefined and false are left out, in attributes and in children. */
export function h(tag, attributes, ...children) {
  const node = drawn.has(tag) ? document.createElementNS(SVG, tag.split(':')[0]) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  add(node, children);
  return node;
}

/** Adds what is there: nodes, texts, lists of them. */
export function add(node, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

/** Puts children in place of what an element has. */
export function fill(node, ...children) {
  node.replaceChildren();
  return add(node, children);
}

/** Waits for a style sheet; without it all can be used, too. */
export function style(href) {
  return new Promise((done) => document.head.append(h('link', { rel: 'stylesheet', href, onload: done, onerror: done })));
}

/** Says something to a screen reader, once. */
export function announce(text) {
  const region = document.getElementById('said');
  if (region) region.textContent = text;
}
