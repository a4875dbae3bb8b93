// Where one writes: a text; pictures, files and voices, put to the node while one still writes.
import { h, fill } from '../shared/dom.mjs';
import { excerpt } from '../shared/text.mjs';
import { prepared, put } from '../shared/upload.mjs';
import { record } from './voice.mjs';
import { clip } from './bubble.mjs';
import { sign } from '../shared/icons.mjs';

export class Composer {
  /** Of one conversation: what is written and chosen stays, and goes on going up, while one looks elsewhere. */
  static of(chat, talk) {
    const had = chat.composers.get(talk.conversation);
    if (had?.language !== chat.words.language) {
      const made = new Composer(chat, talk);
      chat.composers.set(talk.conversation, made);
      // In another language: with what was written, and with what is up.
      if (had) { made.files = had.files.filter((one) => one.item); made.write(had.edited ? had.kept : had.field.value); made.drawFiles(); }
    }
    const composer = Object.assign(chat.composers.get(talk.conversation), { talk });
    composer.drawHold();
    composer.drawTools();
    return composer;
  }

  constructor(chat, talk) {
    Object.assign(this, { chat, talk, language: chat.words.language, files: [], edited: null, recording: null });
    const { say } = chat;
    this.field = h('textarea', { id: 'text', rows: 1, 'aria-label': say('write'), placeholder: say('write'), autocomplete: 'off', enterkeyhint: 'send',
      oninput: () => { this.sized(); this.drawTools(); },
      onkeydown: (event) => this.key(event), onpaste: (event) => { if (event.clipboardData.files.length) { event.preventDefault(); this.add(event.clipboardData.files); } } });
    this.picker = h('input', { type: 'file', id: 'files', multiple: true, class: 'unseen', tabindex: -1, 'aria-hidden': 'true', onchange: () => { this.add(this.picker.files); this.picker.value = ''; } });
    this.list = h('ul', { class: 'picked', 'aria-label': say('attachments') });
    this.note = h('p', { class: 'editing', hidden: true });
    this.hold = h('p', { class: 'editing', hidden: true }, say('awaited'), ' ', h('button', { type: 'button', class: 'inline cancel', onclick: () => this.talk.cancel() }, say('cancelAnswer')));
    this.alert = h('p', { role: 'alert', class: 'problem' });
    this.attach = h('button', { type: 'button', class: 'plain tool', onclick: () => this.picker.click() }, sign('clip', say('attach')));
    this.voice = h('button', { type: 'button', class: 'plain tool', onclick: () => this.speak() }, sign('voice', say('record')));
    this.send = h('button', { type: 'submit', class: 'main' }, say('send'));
    this.meter = h('div', { class: 'recording', hidden: true });
    this.element = h('form', { class: 'compose', onsubmit: (event) => { event.preventDefault(); this.submit(); },
      ondragover: (event) => event.preventDefault(), ondrop: (event) => { event.preventDefault(); this.add(event.dataTransfer.files); } },
    this.note, this.hold, this.alert, this.list, this.meter, h('div', { class: 'line' }, this.attach, this.picker, this.voice, this.field, this.send));
  }

  close() { this.recording?.cancel(); }

  /** Enter sends; not while a syllable is being put together. */
  key(event) {
    if (event.key === 'Escape' && this.edited) { event.preventDefault(); this.endEdit(); }
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    this.submit();
  }

  sized() { this.field.rows = Math.min(8, this.field.value.split('\n').length); }

  drawTools() {
    const isReady = this.files.every((one) => one.item), has = this.field.value.trim() !== '' || this.files.length > 0;
    this.send.disabled = !has || !isReady || Boolean(this.recording) || this.isHeld;
    if (!this.isHeld) fill(this.alert);
    this.attach.disabled = this.voice.disabled = Boolean(this.edited || this.recording);
    this.voice.hidden = !navigator.mediaDevices || typeof MediaRecorder === 'undefined';
  }

  /** One question at a time; what was said can be changed meanwhile. */
  get isHeld() { return this.talk.waits.length > 0 && !this.edited; }

  /** It does not move while pieces come: no press on its button is lost. */
  drawHold() {
    if (this.hold.hidden !== this.talk.waits.length > 0) return;
    const had = this.hold.contains(document.activeElement);
    this.hold.hidden = !this.hold.hidden;
    if (had) this.field.focus();
    this.drawTools();
  }

  submit() {
    if (this.isHeld) return fill(this.alert, this.chat.say('held'));
    if (this.send.disabled) return;
    const text = this.field.value.trim();
    if (this.edited) {
      const row = this.edited;
      this.endEdit();
      return this.talk.change(row, text);
    }
    const items = this.files.map(({ item, alt }) => alt?.value.trim() ? { ...item, alt: alt.value.trim() } : item);
    for (const one of [...this.files]) this.drop(one);
    this.write('');
    this.talk.post(text, items);
    this.field.focus();
  }

  write(text) {
    this.field.value = text;
    this.sized();
    this.drawTools();
  }

  // MARK: Changing what was said

  edit(row) {
    const { say } = this.chat;
    this.kept = this.edited ? this.kept : this.field.value;
    this.edited = row;
    fill(this.note, say('editingNow'), ' ', h('button', { type: 'button', class: 'inline', onclick: () => this.endEdit() }, say('cancel')));
    this.note.hidden = false;
    this.write(row.text ?? '');
    this.field.focus();
  }

  endEdit() {
    this.edited = null;
    this.note.hidden = true;
    this.write(this.kept ?? '');
    this.field.focus();
  }

  // MARK: Files

  add(files) {
    if (this.edited) return;
    for (const file of [...files].slice(0, 20)) this.start({ file, name: file.name });
  }

  async start(one) {
    const { say } = this.chat;
    if (!this.files.includes(one)) this.files.push(one);
    Object.assign(one, { problem: null, stop: new AbortController() });
    this.drawTools();
    try {
      one.source ??= await prepared(one.file);
      one.preview ??= one.source.isPicture ? URL.createObjectURL(one.source.bytes) : null;
      one.bar ??= h('progress', { max: 1, value: 0, 'aria-label': say('uploading', excerpt(one.name, 40)) });
      one.alt ??= one.source.isPicture ? h('input', { type: 'text', maxlength: 300, placeholder: say('alt'), 'aria-label': say('altOf', excerpt(one.name, 40)) }) : null;
      this.drawFiles();
      const stored = await put(one.source.bytes, one.source.type, (done) => { one.bar.value = done; }, one.stop.signal);
      // The type that the node found, unless it is the sound of what may have pictures.
      const mediaType = one.source.type.startsWith('audio/') ? one.source.type : stored.mediaType;
      one.item = { sha256: stored.sha256, bytes: stored.bytes, mediaType, name: one.name, ...one.source.more, ...one.more };
      this.chat.announce(say('uploaded', excerpt(one.name, 40)));
    } catch (error) {
      if (error.name === 'AbortError') return;
      if (error.status === 401) this.chat.failed(error);
      one.problem = error.status === 413 ? say('tooLarge') : error.status === 415 || error.status === 422 ? say('notTaken', error.code) : say('notUploaded');
      this.chat.announce(one.problem);
    }
    this.drawFiles();
    this.drawTools();
  }

  drop(one) {
    one.stop?.abort();
    if (one.preview) URL.revokeObjectURL(one.preview);
    this.files = this.files.filter((other) => other !== one);
    this.drawFiles();
    this.drawTools();
  }

  drawFiles() {
    const { say } = this.chat, held = document.activeElement;
    fill(this.list, this.files.map((one) => h('li', null,
      one.preview ? h('img', { src: one.preview, alt: '', width: 48, height: 48 }) : clip(say),
      h('span', { class: 'name' }, excerpt(one.name, 40)),
      one.problem ? h('span', { class: 'problem' }, one.problem, ' ', h('button', { type: 'button', class: 'inline', onclick: () => this.start(one) }, say('again'))) : one.item ? null : one.bar,
      one.alt, h('button', { type: 'button', class: 'plain tool', onclick: () => { this.drop(one); this.field.focus(); } }, sign('close', say('remove', excerpt(one.name, 40)))))));
    if (this.list.contains(held)) held.focus();
    this.talk.stick();
  }

  // MARK: Voice

  async speak() {
    const { say } = this.chat;
    fill(this.alert);
    const level = h('meter', { min: 0, max: 1, value: 0, 'aria-label': say('level') }), time = h('span', { class: 'time' });
    try {
      this.recording = await record({
        level: (value, ms) => { level.value = value; time.textContent = say('seconds', Math.round(ms / 1000)); },
        done: (made) => {
          this.recording = null;
          this.meter.hidden = true;
          this.drawTools();
          if (!made) return;
          this.start({ file: new File([made.bytes], say('voiceName') + (made.bytes.type.endsWith('mp4') ? '.m4a' : '.webm'), { type: made.bytes.type }), name: say('voiceName'), more: { duration_ms: made.milliseconds } });
          this.field.focus();
        },
      });
      const stop = h('button', { type: 'button', onclick: () => this.recording?.stop() }, say('stop'));
      fill(this.meter, h('span', { role: 'status' }, say('recording')), level, time, stop, h('button', { type: 'button', class: 'plain', onclick: () => { this.recording?.cancel(); this.field.focus(); } }, say('cancel')));
      this.meter.hidden = false;
      this.drawTools();
      stop.focus();
    } catch { fill(this.alert, say('noMicrophone')); }
  }
}
