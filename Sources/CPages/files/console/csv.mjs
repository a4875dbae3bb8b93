// Tables for spreadsheets.
import { h } from '../shared/dom.mjs';

/** A cell of CSV that no spreadsheet takes for a formula (CLI-JSON.md, "CSV"). */
export function cell(value) {
  let text = String(value ?? '');
  if (/^['=+\-@\t\r\n＝＋－＠]/u.test(text)) text = "'" + text;
  return /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Saves bytes as a file. */
export function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
