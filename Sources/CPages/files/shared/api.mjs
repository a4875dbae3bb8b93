// Asks the node: JSON and NDJSON, errors with their code, and what to do when no one answers.

export class ApiError extends Error {
  constructor(status, code, message, hint) {
    super(message);
    Object.assign(this, { name: 'ApiError', status, code, hint });
  }
}

/** Who listens to whether the node answers. */
export const network = { since: null, changed: () => {}, reason: '' };

let retry = 1_000;

function lost() {
  if (network.since === null) {
    network.since = Date.now();
    network.changed();
    setTimeout(look, retry);
  }
}

async function look() {
  try {
    await fetch('/livez', { cache: 'no-store' });
    network.since = null;
    retry = 1_000;
    network.changed();
  } catch {
    retry = Math.min(retry * 2, 30_000);
    setTimeout(look, retry);
  }
}

/** Bytes of UTF-8 as a header has them. */
const headerText = (text) => String.fromCharCode(...new TextEncoder().encode(text));

/** `/v1/a/b?c=d` of parts and parameters; of a list each. */
export function path(parts, parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== null && one !== undefined && one !== '') query.append(name, one);
  }
  const text = query.toString().replaceAll('+', '%20');
  return ['', 'v1', ...parts.map(encodeURIComponent)].join('/') + (text ? '?' + text : '');
}

/** What an answer says of an error: one object, or the line of what was rejected for its own sake. */
export function told(text) {
  const found = text.split('\n').filter(Boolean).map((line) => { try { return JSON.parse(line); } catch { return {}; } }).filter((line) => line?.code);
  return found.find((line) => line.code !== 'E_BATCH') ?? found[0] ?? {};
}

/** The answer as it is. Throws where there is none, or it is an error. */
export async function request(url, { method = 'GET', body, accept = 'application/x-ndjson, application/json', signal, token } = {}) {
  const headers = { Accept: accept };
  if (network.reason) headers['Sillok-Reason'] = headerText(network.reason);
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (token) headers.Authorization = 'Bearer ' + token;
  let answer;
  try {
    answer = await fetch(url, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal, cache: 'no-store' });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    lost();
    throw new ApiError(0, 'E_UNREACHABLE', String(error.message));
  }
  if (answer.ok) return answer;
  const problem = told(await answer.text().catch(() => ''));
  throw new ApiError(answer.status, problem.code ?? 'E_HTTP', problem.detail ?? problem.message ?? answer.statusText, problem.hint);
}

/**
 * A part of a page that is loaded when it is first wanted, once. There are browsers that never ask again for a module that they did not get: so the
 * node is asked first whether it answers.
 */
export function later(load) {
  let part = null;
  return () => part ??= request('/livez').then(load).catch((error) => {
    part = null;
    throw error instanceof ApiError ? error : new ApiError(0, 'E_UNREACHABLE', String(error.message));
  });
}

/** One JSON object. */
export async function object(parts, parameters, options) {
  return (await request(path(parts, parameters), options)).json();
}

/** A page: its lines, and the last one. Without that the answer was cut off. */
export async function lines(parts, parameters, options) {
  const text = await (await request(path(parts, parameters), options)).text();
  const found = text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  const end = found.pop();
  if (end?.type !== 'end') throw new ApiError(200, 'E_CUT', 'the answer was cut off');
  return { lines: found, end };
}
