// What a page says in the chosen language, and what a browser keeps for it.

export const kept = (name) => { try { return localStorage.getItem(`sillok.${name}`); } catch { return null; } };
export const keep = (name, value) => { try { localStorage.setItem(`sillok.${name}`, value); } catch { /* it is forgotten, then */ } };

const formats = {
  clock: { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  minute: { hour: 'numeric', minute: '2-digit' },
  short: { month: 'numeric', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  long: { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  date: { month: 'short', day: 'numeric' },
  day: { year: 'numeric', month: 'long', day: 'numeric', weekday: 'long' },
};

/** `strings`: by key the Korean and the English text, or functions that make them. */
export class Words {
  constructor(strings) {
    Object.assign(this, { strings, language: kept('language') ?? (navigator.language.startsWith('ko') ? 'ko' : 'en'), made: new Map() });
    document.documentElement.lang = this.language;
    for (const name of ['t', 'when', 'number', 'bytes']) this[name] = this[name].bind(this);
  }

  get other() { return this.language === 'ko' ? 'en' : 'ko'; }

  get locale() { return this.language === 'ko' ? 'ko-KR' : 'en-GB'; }

  /** The name of the other language, for who speaks it. */
  get otherName() { return this.language === 'ko' ? 'English' : '한국어'; }

  /** The other language from now on. */
  speak() {
    keep('language', this.language = this.other);
    document.documentElement.lang = this.language;
  }

  t(key, ...values) {
    const entry = this.strings[key];
    if (!entry) throw new Error(`no such string: ${key}`);
    const text = entry[this.language === 'ko' ? 0 : 1];
    return typeof text === 'function' ? text(...values) : text;
  }

  when(time, form = 'long') {
    const date = new Date(time);
    if (Number.isNaN(date.getTime())) return String(time);
    const name = this.language + form;
    if (!this.made.has(name)) this.made.set(name, new Intl.DateTimeFormat(this.locale, formats[form]));
    return this.made.get(name).format(date);
  }

  number(value) { return Number(value).toLocaleString(this.locale); }

  bytes(count) {
    const units = ['B', 'KB', 'MB', 'GB', 'TB'];
    let at = 0, value = count;
    while (value >= 1000 && at < units.length - 1) { value /= 1000; at += 1; }
    return `${at ? value.toFixed(value < 10 ? 1 : 0) : value} ${units[at]}`;
  }
}

/** By their numbers in a profile. */
export const looks = ['auto', 'light', 'dark'];

/** Light, dark, or as the system has it. */
export function dress() {
  const look = kept('look');
  if (look === 'light' || look === 'dark') document.documentElement.dataset.look = look;
  else delete document.documentElement.dataset.look;
}
