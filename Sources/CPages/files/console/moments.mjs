// What rows were at another moment, and at which moments something of them came about: pure.

/** What the rows of now were then: `same`, `changed` or `later`, and the row as it stood. */
export function compare(now, then) {
  const old = new Map(then.map((one) => [one.id, one]));
  return now.map((one) => {
    const was = old.get(one.id);
    if (!was) return { row: one, state: 'later' };
    return { row: was, state: state(was) === state(one) ? 'same' : 'changed', now: one };
  });
}

function state(one) {
  return JSON.stringify([one.text, one.isErased, one.retracted?.id, one.edits.map((edit) => edit.id), one.corrections.map((edit) => edit.id),
    one.retractions.map((retraction) => retraction.id)]);
}

/** Moments at which something of these rows came about, ascending: `{ at, change }`; by `position` or by `time`. */
export function moments(rows, clock) {
  const found = new Map();
  for (const one of rows) {
    const at = clock === 'known' ? one.position : Date.parse(one.time);
    if (Number.isFinite(at)) found.set(at, { at, change: Boolean(found.get(at)?.change || one.amends), row: one });
  }
  return [...found.values()].sort((a, b) => a.at - b.at);
}
