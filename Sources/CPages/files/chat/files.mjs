// Pictures, files and voices of what one writes, put to the node while one still writes.
import { h, fill } from '../shared/dom.mjs';
import { excerpt } from '../shared/text.mjs';
import { prepared, put } from '../shared/upload.mjs';
import { clip } from './bubble.mjs';
import { sign } from '../shared/icons.mjs';
import { record } from './voice.mjs';
import './seldom.mjs';

export function add(composer, files) {
  for (const file of files) start(composer, { file, name: file.name });
}

async function start(composer, one) {
  const { say } = composer.chat;
  if (!composer.files.includes(one)) composer.files.push(one);
  Object.assign(one, { problem: null, stop: new AbortController() });
  composer.drawTools();
  try {
    one.source ??= await prepared(one.file);
    one.preview ??= one.source.isPicture ? URL.createObjectURL(one.source.bytes) : null;
    one.bar ??= h('progress', { max: 1, value: 0, 'aria-label': say('uploading', excerpt(one.name, 40)) });
    one.alt ??= one.source.isPicture ? h('input', { type: 'text', maxlength: 300, placeholder: say('alt'), 'aria-label': say('altOf', excerpt(one.name, 40)) }) : null;
    drawFiles(composer);
    const stored = await put(one.source.bytes, one.source.type, (done) => { one.bar.value = done; }, one.stop.signal);
    // The type that the node found, unless it is the sound of what may have pictures.
    const mediaType = one.source.type.startsWith('audio/') ? one.source.type : stored.mediaType;
    one.item = { sha256: stored.sha256, bytes: stored.bytes, mediaType, name: one.name, ...one.source.more, ...one.more };
    composer.chat.announce(say('uploaded', excerpt(one.name, 40)));
  } catch (error) {
    if (error.name === 'AbortError') return;
    if (error.status === 401) composer.chat.failed(error);
    one.problem = error.status === 413 ? say('tooLarge') : error.status === 415 || error.status === 422 ? say('notTaken', error.code) : say('notUploaded');
    composer.chat.announce(one.problem);
  }
  drawFiles(composer);
  composer.drawTools();
}

export function drop(composer, one) {
  one.stop?.abort();
  if (one.preview) URL.revokeObjectURL(one.preview);
  composer.files = composer.files.filter((other) => other !== one);
  drawFiles(composer);
  composer.drawTools();
}

export function drawFiles(composer) {
  const { say } = composer.chat, held = document.activeElement;
  fill(composer.list, composer.files.map((one) => h('li', null,
    one.preview ? h('img', { src: one.preview, alt: '', width: 48, height: 48 }) : clip(say),
    h('span', { class: 'name' }, excerpt(one.name, 40)),
    one.problem ? h('span', { class: 'problem' }, one.problem, ' ', h('button', { type: 'button', class: 'inline', onclick: () => start(composer, one) }, say('again'))) : one.item ? null : one.bar,
    one.alt, h('button', { type: 'button', class: 'plain tool', onclick: () => { drop(composer, one); composer.field.focus(); } }, sign('close', say('remove', excerpt(one.name, 40)))))));
  if (composer.list.contains(held)) held.focus();
  composer.talk.stick();
}

// MARK: Voices

export async function speak(composer) {
  const { say } = composer.chat;
  const level = h('meter', { min: 0, max: 1, value: 0, 'aria-label': say('level') }), time = h('span', { class: 'time' });
  try {
    composer.recording = await record({
      level: (value, ms) => { level.value = value; time.textContent = say('seconds', Math.round(ms / 1000)); },
      done: (made) => {
        composer.recording = null;
        composer.meter.hidden = true;
        composer.drawTools();
        if (!made) return;
        start(composer, { file: new File([made.bytes], say('voiceName') + (made.bytes.type.endsWith('mp4') ? '.m4a' : '.webm'), { type: made.bytes.type }), name: say('voiceName'), more: { duration_ms: made.milliseconds } });
        composer.field.focus();
      },
    });
    const stop = h('button', { type: 'button', onclick: () => composer.recording?.stop() }, say('stop'));
    fill(composer.meter, h('span', { role: 'status' }, say('recording')), level, time, stop, h('button', { type: 'button', class: 'plain', onclick: () => { composer.recording?.cancel(); composer.field.focus(); } }, say('cancel')));
    composer.meter.hidden = false;
    composer.drawTools();
    stop.focus();
  } catch { fill(composer.alert, say('noMicrophone')); }
}
