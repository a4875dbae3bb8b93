// The countdown of a trip, as values: it knows no clock, no page and no sound.

/** When it ends, of a moment and the seconds that an answer has: both in milliseconds of one clock. */
export const endOf = (now, seconds) => now + seconds * 1_000;

/** Whole seconds that are left; the last one is shown until it is over. */
export const left = (end, now) => Math.max(0, Math.ceil((end - now) / 1_000));

/** As minutes and seconds. */
export const parts = (seconds) => ({ minutes: Math.floor(seconds / 60), seconds: seconds % 60 });

/** Milliseconds until another second is to be shown; 0 where there is nothing more to show. */
export function pause(end, now) {
  const rest = end - now;
  if (rest <= 0) return 0;
  return rest % 1_000 || 1_000;
}

const ways = {
  ready: { start: 'running' },
  running: { end: 'ringing' },
  ringing: { stop: 'over' },
  over: { leave: 'gone' },
};

/** The state after something has happened: ready, running, ringing, over, gone. What does not fit changes nothing. */
export const after = (state, event) => ways[state]?.[event] ?? state;

/** What the button does in a state; nothing while one waits. */
export const action = (state) => ({ ready: 'start', ringing: 'stop', over: 'leave' })[state] ?? null;

/** What is told of an alarm when a state begins. */
export const told = (state) => ({ ringing: 'rang', over: 'stopped' })[state] ?? null;
