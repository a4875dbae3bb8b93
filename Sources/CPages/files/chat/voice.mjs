// A voice: recorded until it is stopped, or until it is quiet for long enough.

export const every = 200;

/** From 0, quiet, to 1, by decibels below full scale. */
export const levelOf = (decibels) => Math.min(1, Math.max(0, 1 - Math.abs(decibels) / 50));

/** Whether a recording ends with the last of these levels, one each 0.2 s: nothing changes, or it is too quiet. */
export function isOver(levels) {
  const last = levels.slice(-15);
  if (last.length === 15 && Math.max(...last) - Math.min(...last) <= 0.1) return true;
  return levels.length > 8 && levels.length % 8 === 0 && levels.at(-9) < 0.25 && levels.at(-1) < 0.175;
}

/** Records until `stop()`, or by itself; `level` is told of each. `done` gets the bytes and their length, or null. */
export async function record({ level, done }) {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } });
  const type = ['audio/webm;codecs=opus', 'audio/mp4'].find((one) => MediaRecorder.isTypeSupported(one));
  const recorder = new MediaRecorder(stream, type ? { mimeType: type } : {}), parts = [], levels = [];
  const sound = new AudioContext(), meter = sound.createAnalyser(), samples = new Float32Array(meter.fftSize);
  sound.createMediaStreamSource(stream).connect(meter);
  const began = performance.now();
  let isKept = true;
  const clock = setInterval(() => {
    meter.getFloatTimeDomainData(samples);
    const power = samples.reduce((sum, one) => sum + one * one, 0) / samples.length;
    levels.push(levelOf(10 * Math.log10(power || 1e-10)));
    level(levels.at(-1), performance.now() - began);
    // Where the meter may not run it hears nothing, and that says nothing.
    if (sound.state === 'running' && isOver(levels)) recorder.stop();
  }, every);
  recorder.ondataavailable = (event) => parts.push(event.data);
  recorder.onstop = () => {
    clearInterval(clock);
    for (const track of stream.getTracks()) track.stop();
    sound.close();
    const bytes = new Blob(parts, { type: recorder.mimeType.split(';')[0] });
    done(isKept && bytes.size ? { bytes, milliseconds: Math.round(performance.now() - began) } : null);
  };
  recorder.start();
  const end = (keep) => { isKept = keep; if (recorder.state !== 'inactive') recorder.stop(); };
  return { stop: () => end(true), cancel: () => end(false) };
}
