// What two texts share, what went, what came: pure. Equal and gone parts are the first text, equal and new ones the second.

const words = /\s+|[\p{L}\p{N}_]+|[^]/gu;

/** Most steps before two texts are taken for quite different ones. */
const most = 600;

/** Parts `{ same | gone | new: text }` in order. */
export function diff(before, after) {
  const a = before.match(words) ?? [], b = after.match(words) ?? [];
  let start = 0, endA = a.length, endB = b.length;
  while (start < endA && start < endB && a[start] === b[start]) start++;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) { endA--; endB--; }
  const parts = [];
  const put = (kind, text) => {
    if (!text) return;
    const last = parts.at(-1);
    if (last && kind in last) last[kind] += text;
    else parts.push({ [kind]: text });
  };
  put('same', a.slice(0, start).join(''));
  for (const [kind, text] of middle(a.slice(start, endA), b.slice(start, endB))) put(kind, text);
  put('same', a.slice(endA).join(''));
  return parts;
}

/** Myers' greedy walk, bounded. */
function middle(a, b) {
  if (!a.length || !b.length) return [['gone', a.join('')], ['new', b.join('')]];
  const trace = [];
  let reach = new Map([[1, 0]]);
  for (let d = 0; d <= Math.min(most, a.length + b.length); d++) {
    const next = new Map();
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1);
      let x = down ? reach.get(k + 1) ?? 0 : (reach.get(k - 1) ?? 0) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) { x++; y++; }
      next.set(k, x);
      if (x >= a.length && y >= b.length) return walk(a, b, [...trace, next]);
    }
    trace.push(next);
    reach = next;
  }
  return [['gone', a.join('')], ['new', b.join('')]];
}

function walk(a, b, trace) {
  const parts = [];
  let x = a.length, y = b.length;
  for (let d = trace.length - 1; d > 0; d--) {
    const reach = trace[d - 1], k = x - y;
    const down = k === -d || k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1);
    const from = down ? k + 1 : k - 1;
    const fromX = reach.get(from) ?? 0, fromY = fromX - from;
    while (x > fromX && y > fromY && x > 0 && y > 0 && a[x - 1] === b[y - 1]) { parts.push(['same', a[--x]]); y--; }
    if (down) { if (y > 0) parts.push(['new', b[--y]]); } else if (x > 0) parts.push(['gone', a[--x]]);
  }
  while (x > 0 && y > 0) { parts.push(['same', a[--x]]); y--; }
  return parts.reverse();
}
