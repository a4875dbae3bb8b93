// The sound. It is set on the audio's own clock: browsers slow down the timers of a page that is not looked at, but not that one.

const beep = 0.35;
const gap = 0.25;
const longest = 120;

let context = null;

/** Unlocks the sound; only a press of a button may. */
export function unlock() {
  context ??= typeof AudioContext === 'undefined' ? null : new AudioContext();
  context?.resume().catch(() => {});
}

/**
 * Rings in so many seconds, and calls `rang` then. What it gives back silences it, before and after.
 */
export function ring(seconds, rang) {
  if (!context) return () => {};
  const start = context.currentTime + Math.max(0, seconds);
  const volume = context.createGain();
  volume.gain.setValueAtTime(0, context.currentTime);
  for (let at = start; at < start + longest; at += beep + gap) {
    volume.gain.setValueAtTime(0.4, at);
    volume.gain.setValueAtTime(0, at + beep);
  }
  volume.connect(context.destination);
  const tone = context.createOscillator();
  tone.frequency.value = 880;
  tone.connect(volume);
  tone.start(context.currentTime);
  tone.stop(start + longest);
  // One without sound that ends when the bell begins: its end is an event, which no timer has to look for.
  const mark = context.createConstantSource();
  mark.offset.value = 0;
  mark.connect(context.destination);
  mark.onended = rang;
  mark.start(context.currentTime);
  mark.stop(start);
  return () => {
    mark.onended = null;
    for (const node of [tone, mark]) node.stop();
    volume.disconnect();
  };
}
