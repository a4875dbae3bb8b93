// Ids of events, made where they are said.

/** A new UUIDv7. */
export function eventID(now = Date.now(), chance = crypto.getRandomValues(new Uint8Array(10))) {
  const time = now.toString(16).padStart(12, '0'), rest = [...chance].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const variant = ((chance[2] & 0x3f) | 0x80).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(1, 4)}-${variant}${rest.slice(6, 8)}-${rest.slice(8, 20)}`;
}
