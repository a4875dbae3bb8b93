// Where one writes: a text, and files and voices beside it.
import { h, fill } from '../shared/dom.mjs';
import { sign } from '../shared/icons.mjs';

export class Composer {
  /** Of one conversation: what is written and chosen stays, and goes on going up, while one looks elsewhere. */
  static of(chat, talk) {
    const had = chat.composers.get(talk.conversation);
    if (had?.language !== chat.words.language) {
      const made = new Composer(chat, talk);
      chat.composers.set(talk.conversation, made);
      // In another language: with what was written, and with what is up.
      if (had) { made.files = had.files.filter((one) => one.item); made.write(had.edited ? had.kept : had.field.value); if (had.kit) had.kit.drawFiles(Object.assign(made, { kit: had.kit })); }
    }
    const composer = Object.assign(chat.composers.get(talk.conversation), { talk });
    composer.drawHold();
    composer.drawTools();
    return composer;
  }

  constructor(chat, talk) {
    Object.assign(this, { chat, talk, language: chat.words.language, files: [], edited: null, recording: null, loading: 0, kit: null });
    const { say } = chat;
    this.field = h('textarea', { id: 'text', rows: 1, 'aria-label': say('write'), placeholder: say('write'), autocomplete: 'off', enterkeyhint: 'send',
      oninput: () => { this.sized(); this.drawTools(); },
      onkeydown: (event) => this.key(event), onpaste: (event) => { if (event.clipboardData.files.length) { event.preventDefault(); this.add(event.clipboardData.files); } } });
    this.picker = h('input', { type: 'file', id: 'files', multiple: true, class: 'unseen', tabindex: -1, 'aria-hidden': 'true', onchange: () => { this.add(this.picker.files); this.picker.value = ''; } });
    this.list = h('ul', { class: 'picked', 'aria-label': say('attachments') });
    this.note = h('p', { class: 'editing', hidden: true });
    this.hold = h('p', { class: 'editing', hidden: true }, say('awaited'), ' ', h('button', { type: 'button', class: 'inline cancel', onclick: () => this.chat.coming.cancel(this.talk) }, say('cancelAnswer')));
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
    const isReady = !this.loading && this.files.every((one) => one.item), has = this.field.value.trim() !== '' || this.files.length > 0;
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
    for (const one of [...this.files]) this.kit.drop(this, one);
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

  endEdit() {
    this.edited = null;
    this.note.hidden = true;
    this.write(this.kept ?? '');
    this.field.focus();
  }

  // MARK: Files and voices

  /** Both are seldom: their code is loaded with the first of them, and nothing is sent meanwhile. */
  async with(body) {
    fill(this.alert);
    this.loading += 1;
    this.drawTools();
    const kit = await this.chat.parts.files().catch(() => null);
    this.loading -= 1;
    this.drawTools();
    if (kit) body(this.kit = kit); else fill(this.alert, this.chat.say('unreachable'));
  }

  add(files) {
    const all = [...files].slice(0, 20);
    if (!this.edited) this.with((kit) => kit.add(this, all));
  }

  speak() { if (!this.loading) this.with((kit) => { if (!this.talk.isClosed) kit.speak(this); }); }
}
