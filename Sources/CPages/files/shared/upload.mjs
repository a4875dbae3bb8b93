// Bytes on their way to the node: pictures made smaller, with a SHA-256, and how far it is.
import { ApiError, told } from './api.mjs';

const longest = 2_048;
const drawn = new Set(['image/jpeg', 'image/png', 'image/webp']);

/** What is sent of a file: pictures without what cameras write into them, and not larger than a screen. */
export async function prepared(file) {
  const isPicture = file.type.startsWith('image/');
  if (!drawn.has(file.type)) return { bytes: file, type: file.type || 'application/octet-stream', isPicture: isPicture && file.type === 'image/gif' };
  try {
    const picture = await createImageBitmap(file), scale = Math.min(1, longest / Math.max(picture.width, picture.height));
    const [width, height] = [picture.width, picture.height].map((one) => Math.max(1, Math.round(one * scale)));
    const canvas = new OffscreenCanvas(width, height);
    canvas.getContext('2d').drawImage(picture, 0, 0, width, height);
    picture.close();
    const bytes = await canvas.convertToBlob({ type: file.type, quality: 0.88 });
    return { bytes, type: bytes.type, isPicture, more: { width, height } };
  } catch { return { bytes: file, type: file.type, isPicture }; }
}

const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** Puts bytes: `progress` is told of the part that is sent. The same bytes sent again are stored once. */
export async function put(bytes, type, progress, signal) {
  const sum = globalThis.crypto?.subtle ? hex(await crypto.subtle.digest('SHA-256', await bytes.arrayBuffer())) : null;
  return new Promise((done, failed) => {
    const asked = new XMLHttpRequest();
    asked.open('POST', '/v1/attachments');
    asked.setRequestHeader('Content-Type', type);
    if (sum) asked.setRequestHeader('Sillok-Sha256', sum);
    asked.upload.onprogress = (event) => { if (event.lengthComputable) progress(event.loaded / event.total); };
    asked.onload = () => {
      if (asked.status < 300) {
        try { return done(JSON.parse(asked.responseText.split('\n')[0])); } catch { /* no answer of a node */ }
      }
      const problem = told(asked.responseText);
      failed(new ApiError(asked.status, problem.code ?? 'E_HTTP', problem.detail ?? asked.statusText));
    };
    asked.onerror = () => failed(new ApiError(0, 'E_UNREACHABLE', 'the connection broke'));
    asked.onabort = () => failed(Object.assign(new Error('given up'), { name: 'AbortError' }));
    signal.addEventListener('abort', () => asked.abort());
    if (signal.aborted) return asked.onabort();
    asked.send(bytes);
  });
}
