// Address books as phones and mail services give them out: vCard 2.1, 3.0 (RFC 2426) and 4.0 (RFC 6350). Of each card the name and the first number.

/** Lines as they were before they were folded, in quoted-printable (2.1) too. */
function lines(text) {
  const found = [];
  for (const line of text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/)) {
    const last = found.length - 1;
    if (/^[ \t]/.test(line) && last >= 0) found[last] += line.slice(1);
    else if (last >= 0 && /ENCODING=QUOTED-PRINTABLE/i.test(found[last].split(':')[0]) && found[last].endsWith('=')) found[last] = found[last].slice(0, -1) + line;
    else found.push(line);
  }
  return found;
}

/** The name of a property, what is said of it, and its value. */
function property(line) {
  const match = /^(?:[\w-]+\.)?([A-Za-z-]+)((?:;(?:[^":;]|"[^"]*")*)*):(.*)$/.exec(line);
  if (!match) return null;
  const [, name, more, raw] = match;
  if (!/ENCODING=QUOTED-PRINTABLE/i.test(more)) return { name: name.toUpperCase(), value: raw };
  const bytes = [];
  for (let at = 0; at < raw.length; at++) {
    const code = /^=[0-9A-Fa-f]{2}/.test(raw.slice(at, at + 3)) ? parseInt(raw.slice(at + 1, at + 3), 16) : null;
    if (code === null) bytes.push(...new TextEncoder().encode(raw[at])); else { bytes.push(code); at += 2; }
  }
  return { name: name.toUpperCase(), value: new TextDecoder().decode(new Uint8Array(bytes)) };
}

const plain = (text) => text.replace(/\\n/gi, ' ').replace(/\\([,;\\])/g, '$1').replace(/\s+/g, ' ').trim();

/** Family and given name, in the order of their script. */
function parts(value) {
  const [family = '', given = ''] = value.split(/(?<!\\);/).map(plain);
  return /[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3\u4e00-\u9fff]/.test(family + given) ? family + given : `${given} ${family}`.trim();
}

/** `tel:` and the digits, with the plus of a number that has its country; null where there are fewer than three. */
export function contact(number) {
  const digits = number.replace(/^tel:/i, '').split(/;|(?:ext|x)\.?\s*\d*$/i)[0].replace(/[^\d+]/g, '');
  const only = digits.replaceAll('+', '');
  return only.length < 3 || only.length > 20 ? null : `tel:${digits.startsWith('+') ? '+' : ''}${only}`;
}

/** Those who have a name and a number, each number once: `{contact, name, phoneNumber}`. */
export function cards(text) {
  const found = new Map();
  let card = null;
  for (const line of lines(text)) {
    const one = property(line);
    if (!one) continue;
    if (one.name === 'BEGIN' && /^vcard$/i.test(one.value.trim())) card = { full: '', parts: '', number: null };
    else if (!card) continue;
    else if (one.name === 'FN') card.full ||= plain(one.value);
    else if (one.name === 'N') card.parts ||= parts(one.value);
    else if (one.name === 'TEL') card.number ??= contact(one.value) ? one.value.replace(/^tel:/i, '').trim() : null;
    else if (one.name === 'END') {
      const name = (card.full || card.parts).slice(0, 200), id = card.number && contact(card.number);
      if (name && id && !found.has(id)) found.set(id, { contact: id, name, phoneNumber: card.number.slice(0, 60) });
      card = null;
    }
  }
  return [...found.values()];
}
