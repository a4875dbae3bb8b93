// Each state of a page has an address behind `#/`.

/** `#/c/c-88?at=…` of parts and parameters. */
export function link(parts, parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters ?? {})) if (value !== null && value !== undefined && value !== '') query.set(name, value);
  const text = query.toString();
  return '#/' + parts.map(encodeURIComponent).join('/') + (text ? '?' + text : '');
}

/** The parts and parameters of the address. */
export function place() {
  const [words, query] = location.hash.replace(/^#\/?/, '').split('?', 2);
  let parts = [];
  try { parts = words.split('/').filter(Boolean).map(decodeURIComponent); } catch { /* as if none were given */ }
  return { parts, query: new URLSearchParams(query ?? '') };
}
