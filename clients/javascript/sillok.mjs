/**
 * Client of Sillok's API. Node 18 and later; in the browser all but Unix sockets. No dependencies.
 *
 *     import { Sillok } from "./sillok.mjs"
 *     const bot = new Sillok("unix:/run/syncd/api.sock")
 *     for await (const d of bot.work("medibot", { start: "now", type: "message.posted" }))
 *       await bot.reply(d, { text: "안녕하세요" })
 */
const crypto = globalThis.crypto ?? (await import("node:crypto")).webcrypto
const NDJSON = "application/x-ndjson"
const REPLY_TURNS = 8 // ids that a reply may have, where events of others have the first ones
const PATIENT = 60_000 // milliseconds without a byte: an answer waits for 25 s at most, and a stream has a heartbeat every 15
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/g // what tells where a member of JSON begins and ends
const texts = new WeakMap() // of lines, as they came
const agents = new Map() // connections to Unix sockets, which are used again

/** An answer that is an error. `code` never changes its meaning (docs/reference/ERRORS.md), `status` is that of HTTP.
 * `isRetriable`: the same request may succeed later. */
export class SillokError extends Error {
  constructor(code, message, { hint = null, status = 0, body = {}, results = [] } = {}) {
    super(`${message} [${code}]` + (hint ? `: ${hint}` : ""))
    Object.assign(this, { name: new.target.name, code, hint, status, body, results })
    this.isRetriable = [200, 204, 429, 502, 503, 504, 507].includes(status) || ["E_UNREACHABLE", "E_ELSEWHERE", "E_CURSOR_AHEAD"].includes(code)
  }
}

/** No node answered in time. What was sent may have been stored: repeat it with the same ids. */
export class Unreachable extends SillokError {}

/** The place that was kept is of no use any more: begin anew, and pass over events by their ids. */
export class CursorError extends SillokError {}

/** The text of a line as it came, with all digits of its numbers: JavaScript keeps them up to 2^53. */
export const raw = (line) => texts.get(line)

function read(text) {
  try {
    const line = JSON.parse(text)
    texts.set(line, text)
    return line
  } catch (error) {
    const place = ["cursor", "delivery", "id"].flatMap((name) => text.match(`"${name}":"[^"]*"`) ?? []).join(", ")
    throw new SillokError("E_PROTOCOL", `a line cannot be read (${place || text.slice(0, 80)}): ${error.message}`)
  }
}

/** The objects under `name`, `depth` brackets deep, as they stand in the text. */
function objects(text, name, depth) {
  const found = []
  let level = 0, key = "", start = -1
  for (const { 0: token, 1: colon, index } of text.matchAll(TOKENS)) {
    if (token === "}" || token === "]") level--
    if (level === depth && token === "}" && start >= 0) {
      found.push(text.slice(start, index + 1))
      start = -1
    } else if (level === depth && token === "{" && key === name) start = index
    key = colon && level === depth ? token.split('"')[1] : ""
    if (token === "{" || token === "[") level++
  }
  return found
}

/** JSON. JavaScript writes numbers that it does not have as null: those are refused. */
const encode = (value) => JSON.stringify(value, (key, one) => {
  if (typeof one === "number" && !Number.isFinite(one)) throw new TypeError(`${key}: ${one} is no number of JSON`)
  return one
})

function uuid(high, low, version) {
  const bytes = Uint8Array.of(...high.subarray(0, 6), ...low.subarray(6, 16))
  bytes[6] = (bytes[6] & 0x0f) | (version << 4)
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
}

/** A new UUIDv7. */
export function eventId() {
  const now = Date.now()
  const time = Uint8Array.from([40, 32, 24, 16, 8, 0], (bits) => Math.floor(now / 2 ** bits) % 256)
  return uuid(time, crypto.getRandomValues(new Uint8Array(16)), 7)
}

/** The id of a bot's reply to a message: the same from every worker (docs/reference/FORMATS.md, "Reply ids").
 * `turn`: the next one, 2 to 8, where someone else's event has those before. */
export async function replyId(message, bot, label = "", turn = 1) {
  const hex = message.replaceAll("-", "")
  if (!/^[0-9a-f]{32}$/i.test(hex)) throw new TypeError(`${message} is no UUID`)
  const cause = Uint8Array.from(hex.match(/../g), (byte) => parseInt(byte, 16))
  const bytes = (text) => [...new TextEncoder().encode(text)]
  const all = Uint8Array.from([...bytes(`sillok-reply-v1\0${bot}\0`), ...cause, ...bytes(`\0${label}${turn > 1 ? `\0${turn}` : ""}`)])
  return uuid(cause, new Uint8Array(await crypto.subtle.digest("SHA-256", all)), 8)
}

const pause = (ms, signal) => new Promise((resolve) => {
  const done = () => (clearTimeout(timer), signal?.removeEventListener("abort", done), resolve())
  const timer = setTimeout(done, ms)
  signal?.aborted ? done() : signal?.addEventListener("abort", done)
})

async function* chunksOf(body) {
  if (!body?.getReader) return yield* body ?? []
  const reader = body.getReader() // not all browsers iterate over a body
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value
}

/** One request to one node: its head, and its body as lines that come one by one. */
async function exchange(base, method, target, body, headers, outer) {
  const stop = new AbortController()
  const cancel = () => stop.abort(outer?.reason)
  let timer
  const within = (promise) => {
    timer = setTimeout(() => stop.abort(new Error(`nothing came for ${PATIENT / 1000} s`)), PATIENT)
    return promise.finally(() => clearTimeout(timer))
  }
  const end = () => (outer?.removeEventListener("abort", cancel), stop.abort())
  outer?.addEventListener("abort", cancel)
  if (outer?.aborted) cancel()
  try {
    const path = base.startsWith("unix:") ? base.slice(5) : null
    const answer = await within(path ? viaSocket(await import("node:http"), path, method, target, body, headers, stop.signal)
      : fetch(base + target, { method, headers, body: body?.call ? body() : body, duplex: "half", redirect: "manual", cache: "no-store",
        signal: stop.signal }))
    async function* chunks() {
      const parts = chunksOf(answer.body)
      try {
        for (let part = await within(parts.next()); !part.done; part = await within(parts.next())) yield part.value
      } finally {
        end()
      }
    }
    async function* lines() {
      let rest = "", decoder = new TextDecoder()
      for await (const part of chunks()) {
        const all = (rest + decoder.decode(part, { stream: true })).split("\n")
        rest = all.pop()
        for (const line of all) if (line.startsWith("{")) yield read(line)
      }
      if (rest.startsWith("{")) yield JSON.parse(rest) && read(rest) // an answer that is one object may have no line end
    }
    const status = answer.type === "opaqueredirect" ? 302 : answer.status // a browser does not tell which one
    const type = answer.headers.get("content-type")?.split(";")[0].trim().toLowerCase()
    return { base, status, type, headers: answer.headers, retryAfter: answer.headers.get("retry-after"), lines: lines(), chunks }
  } catch (error) {
    end()
    throw error
  }
}

function viaSocket(http, path, method, target, body, headers, signal) {
  if (!agents.has(path)) agents.set(path, new http.Agent({ keepAlive: true }))
  const options = { socketPath: path, agent: agents.get(path), method, path: target, headers, signal }
  return new Promise((resolve, reject) => {
    let answered = false // a node may refuse a long body before it has all
    const request = http.request(options, (response) => (answered = true) &&
      resolve({ status: response.statusCode, headers: new Map(Object.entries(response.headers)), body: response }))
    request.on("error", (error) => {
      if (answered || !request.reusedSocket || signal.aborted) return reject(error)
      viaSocket(http, path, method, target, body, headers, signal).then(resolve, reject) // one that was kept may have ended since
    })
    const data = body?.call ? body() : body
    data?.pipe ? data.on("error", (error) => request.destroy(error)).pipe(request) : request.end(data)
  })
}

function errorOf(status, lines) {
  // A proxy may have answered, in a form of its own.
  const why = lines.find((line) => String(line.code).startsWith("E_") && line.code !== "E_BATCH") ?? {}
  const code = why.code ?? `E_HTTP_${status}`, where = why.code ? why : lines[0] ?? {}
  const results = lines.filter((line) => ["appended", "already", "rejected"].includes(line.type))
  const kind = code === "E_CURSOR" ? CursorError : SillokError
  const message = [where.detail, where.message].find((text) => typeof text === "string")
    ?? `an answer ${status < 300 ? "that is cut off, or not of a node" : "without a message"}`
  return new kind(code, message, { hint: why.hint, status, body: why, results })
}

/** One node or several, as "unix:/run/syncd/api.sock" or "https://seoul:7461". Where one fails the next is asked.
 * All requests can be repeated safely, appends by the ids that they get here. So what a node refuses for now, or does not answer, is
 * repeated, for `patience` milliseconds; what once followed or worked goes on without end. Each pause is told to `log`. */
export class Sillok {
  #token
  #shown = {}
  #preferred = new Map() // the node that answered last; for a subscription, its home

  constructor(bases = "unix:/run/syncd/api.sock", { token, patience = 30_000, headers = {}, log = console.warn } = {}) {
    this.bases = [bases].flat().map((base) => base.replace(/\/+$/, ""))
    for (const base of this.bases)
      if (!/^(unix:|https?:\/\/)./.test(base)) throw new TypeError(`${base}: neither unix:PATH nor http://HOST:PORT nor https://HOST:PORT`)
    this.#token = token
    Object.assign(this, { patience, headers: { "content-type": "application/json", ...headers }, log })
  }

  /** Whether another token is to be shown now. */
  async #renew() {
    const before = this.#shown.authorization, token = this.#token?.call ? await this.#token() : this.#token
    if (token) this.#shown = { authorization: `Bearer ${token.trim()}` }
    return this.#shown.authorization !== before
  }

  /** Any request. Asks the nodes in turn, with growing pauses, while that makes sense. */
  async request(method, path, { query = {}, body, accept = "application/json", base, headers, stream = false, patience, group = "", delivery, signal } = {}) {
    const pairs = Object.entries(query).flatMap(([key, value]) => [value ?? []].flat().map((one) => [key, one]))
    const target = path + (pairs.length ? "?" + pairs.map((pair) => pair.map(encodeURIComponent).join("=")).join("&") : "")
    const until = Date.now() + (patience ?? this.patience)
    if (this.#token && !this.#shown.authorization) await this.#renew()
    const errors = new Map(), ready = new Map() // what each node said last, and when one wants to be asked again
    for (let growing = 100; ; growing = Math.min(growing * 2, 5000)) {
      const first = base ?? this.#preferred.get(group) ?? this.bases[0]
      const nodes = [first, ...this.bases.filter((other) => other !== first && !base)]
      let wait = growing * (0.7 + 0.3 * Math.random())
      for (const at of nodes) {
        if (ready.get(at) > Date.now()) continue
        let answer, lines, isStream, isCut = false
        const ask = async () => {
          [answer, lines] = [await exchange(at, method, target, body, { ...this.#shown, ...this.headers, accept, ...headers }, signal), []]
          isStream = stream && answer.status < 300 && (accept !== NDJSON || answer.type === NDJSON)
          if (!isStream) for await (const line of answer.lines) lines.push(line)
        }
        try {
          await ask()
          if ([401, 429].includes(answer.status) && await this.#renew()) await ask() // 429 is also for wrong ones
        } catch (error) {
          if (signal?.aborted || error instanceof RangeError) throw signal?.reason ?? error // the latter is of a body
          if (error instanceof SillokError && answer.status < 300) throw error
          if (error instanceof SyntaxError || error instanceof SillokError) isCut = true // or not of a node
          else {
            const why = error.cause?.message || error.message || error.code
            errors.set(at, new Unreachable("E_UNREACHABLE", `${at}: ${why}`, { hint: "is the daemon running?" }))
            continue
          }
        }
        const hasEnd = accept !== NDJSON || lines.at(-1)?.type === "end"
        const hasLines = lines.length > 0 || !path.startsWith("/v1/") || (answer.status === 204 && method === "DELETE")
        const isWhole = hasLines && hasEnd
        if (answer.status < 300 && !isCut && (isStream || isWhole)) {
          this.#preferred.set(group, at)
          return stream ? answer : { ...answer, lines }
        }
        const error = errorOf(answer.status, lines) // 200: it was cut off, or a proxy gave it
        errors.set(at, error)
        if (!error.isRetriable) throw error
        if (/^\d+$/.test(answer.retryAfter ?? "")) // never sooner than that; the node may have told it to many
          ready.set(at, Date.now() + Math.min(answer.retryAfter * 1000, 86_400_000) * (1 + 0.1 * Math.random()))
      }
      wait = Math.max(wait, Math.min(...nodes.map((at) => ready.get(at) ?? 0)) - Date.now())
      const worth = nodes.map((at) => errors.get(at)).filter((error) => error.code !== "E_ELSEWHERE")
      const why = worth[0] ?? errors.get(first)
      if ((!worth.length && until < Infinity) || Date.now() + wait > until) throw why // but one takes over when the home is silent
      this.log(`sillok: ${method} ${path}: ${why.message}; again in ${Math.round(wait)} ms`)
      if (delivery) delivery.until += wait // it is the node that takes so long
      await pause(wait, signal)
      signal?.throwIfAborted()
    }
  }

  /** Stores events (docs/reference/FORMATS.md §4), all or none unless `each`. An event without id gets one here, unless `derived`. */
  async append(events, { expect, each, derived, ack, patience, signal } = {}) {
    const lines = [events].flat().map((event) => encode(derived ? event : { id: eventId(), ...event }))
    const query = { expect: expect?.join(":"), atomicity: each ? "each" : undefined, ids: derived ? "derived" : undefined, ack: ack?.token }
    const [body, group] = [lines.join("\n"), ack && `subscription ${ack.subscription}`]
    return (await this.request("POST", "/v1/events", { query, body, accept: NDJSON, patience, signal, group, delivery: ack })).lines.slice(0, -1)
  }

  /** Stores one message. */
  async post(user, text, conversation, members = {}) {
    const subject = conversation == null ? {} : { subject: `conversation/${conversation}` }
    return (await this.append({ type: "message.posted", user, ...members, ...subject, data: { ...members.data, text } }))[0]
  }

  async *pages(path, query = {}) {
    let { cursor, base } = query
    for (;;) { // the cursor of a list belongs to the node that gave it
      const answer = await this.request("GET", path, { query: { ...query, cursor }, accept: NDJSON, base }), end = answer.lines.pop()
      yield* answer.lines
      if (!end.more) return
      ;({ base, cursor } = { base: answer.base, cursor: end.next })
    }
  }

  /** Rows of a user, newest first. `order`, `since`, `role`, `type` … as docs/operating/api.md has them; `limit` is a page's. */
  history(user, query) {
    return this.pages(`/v1/users/${encodeURIComponent(user)}/history`, query)
  }

  /** Rows of a conversation, as of a history. */
  rows(conversation, query) {
    return this.pages(`/v1/conversations/${encodeURIComponent(conversation)}/rows`, query)
  }

  /** All conversations, the latest active first. */
  conversations(query) {
    return this.pages("/v1/conversations", query)
  }

  /** The fields of a profile by their names, each with `value`, `author`, `time`, `conflict` … */
  async profile(user) {
    const fields = {}
    for await (const row of this.pages(`/v1/users/${encodeURIComponent(user)}`)) if (row.type === "field") fields[row.name] = row
    return fields
  }

  /** One event; E_NOT_FOUND where there is none. */
  async event(id) {
    return (await this.pages(`/v1/events/${encodeURIComponent(id)}`).next()).value
  }

  /** A page of the feed: `items`, `cursor`, `more`. Parameters: docs/operating/following.md. */
  async changes(after = "now", { signal, ...query } = {}) {
    return (await this.request("GET", "/v1/changes", { query: { ...query, after }, signal })).lines[0]
  }

  /** Lines of a stream; connects again when it ends. `moved` says what to ask for now. */
  async *#streamed(path, moved, signal, group, { rotates = false, isLocal = false } = {}) {
    let patience, wait = 0
    while (!signal?.aborted) {
      const options = { query: moved(), accept: NDJSON, stream: true, patience, group, signal }
      const answer = await this.request("GET", path, options).catch((error) => { if (!signal?.aborted) throw error })
      const began = Date.now()
      let [last, isBack] = [{}, false]
      patience = Infinity
      try {
        for (;;) {
          const part = await answer?.lines.next().catch((error) => {
            if (error instanceof SillokError) throw error // but a stream that breaks off has ended
          })
          if (!part || part.done || signal?.aborted) break
          yield (last = part.value)
          // Where each node delivers its own events: back to the first one, half a minute after it did not answer.
          if (isLocal && answer.base !== this.bases[0] && Date.now() - began > 30_000) {
            isBack = this.#preferred.delete(group)
            break
          }
        }
      } finally {
        await answer?.lines.return()
      }
      // A node that ends a stream says so. One that broke it off, or was silent, is not asked first: who knows the home names it.
      const next = (this.bases.indexOf(answer?.base) + 1) % this.bases.length
      if (rotates || (!isBack && last.retry_ms === undefined)) this.#preferred.set(group, this.bases[next])
      wait = last.retry_ms ?? (Date.now() - began < 10_000 ? Math.min(wait * 2 || 100, 5000) : 100)
      await pause(wait, signal)
    }
  }

  /** Events as they are stored, without end. Keep `event.cursor` when the event is dealt with, and begin there again.
   * Connects again by itself, also to another node; there some events may come again. CursorError: begin anew. With `controls`
   * also `caught-up` and `heartbeat` come, whose cursors may be kept, too. */
  async *follow(after = "now", { controls = false, signal, ...filters } = {}) {
    for await (const line of this.#streamed("/v1/changes", () => ({ ...filters, after }), signal, "", { rotates: true })) {
      after = line.cursor ?? after
      if (line.control === "reset")
        throw new CursorError("E_CURSOR", `the log was replaced: ${line.reason}`, { hint: "begin anew", status: 409, body: line })
      if (!line.control || (controls && line.control !== "closing")) yield line
    }
  }

  #on(name, verb, body, { method = "POST", ...more } = {}) {
    const options = { body: body && encode(body), group: `subscription ${name}`, ...more }
    return this.request(method, `/v1/subscriptions/${encodeURIComponent(name)}${verb}`, options)
  }

  /** Makes the subscription, if it is not there. `type`, `user`, `author`, `conversation`: what it wants; the rest as documented. */
  async subscribe(name, { start, type, user, author, conversation, ...members }) {
    const words = Object.entries({ type, user, author, conversation }).filter(([, one]) => one != null)
    const filter = words.length ? Object.fromEntries(words.map(([key, one]) => [key, [one].flat()])) : undefined
    return (await this.#on(name, "", { start, filter, ...members }, { method: "PUT" })).lines[0]
  }

  /** All subscriptions; those at home there with `open`, `in_flight`, `parked`, `behind` and `conversations_behind`. */
  subscriptions() {
    return this.pages("/v1/subscriptions")
  }

  /** Ends the subscription for all nodes. */
  async unsubscribe(name) {
    await this.#on(name, "", undefined, { method: "DELETE" })
  }

  /** Up to `max` deliveries. They come again if they are not settled within `ack_wait_ms`. */
  async pull(name, { max = 1, wait_ms = 20_000, signal } = {}) {
    const answer = await this.#on(name, "/pull", { max, wait_ms }, { signal })
    const events = objects(raw(answer.lines[0]), "event", 3)
    return answer.lines[0].deliveries.map((line, n) => new Delivery(this, name, line, events[n]))
  }

  /** `ack`, `release` (`delay_ms`, `error`, `untried`), `extend` or `park` (`reason`) of several deliveries, by their tokens. */
  async settle(name, verb, tokens, body = {}, options = {}) {
    return (await this.#on(name, `/${verb}`, { deliveries: [tokens].flat(), ...body }, options)).lines[0] ?? {}
  }

  /** Events that were set aside: `event`, `attempts`, `reason`, `error`, `at`. */
  async parked(name) {
    const lines = []
    for await (const line of this.pages(`/v1/subscriptions/${encodeURIComponent(name)}/parked`)) lines.push(line)
    return lines
  }

  /** Parked events, by their ids, are delivered again. */
  async retry(name, ...events) {
    await this.#on(name, "/retry", { events })
  }

  /** Deliveries of a subscription, which is made if `start` is given and it is not there: `for await (const d of bot.work(…))`.
   * One is held at a time. It is extended until it is settled, for `longest` milliseconds at most, and acked when the body goes on. */
  async *work(name, { start, late_ms = 600_000, longest = 600_000, signal, ...members } = {}) {
    const line = start ? await this.subscribe(name, { start, late_ms: late_ms ?? undefined, ...members })
      : (await this.#on(name, "", undefined, { method: "GET" })).lines[0]
    const definition = line.definition ?? line, isLocal = definition.home === "local"
    let current
    const often = definition.ack_wait_ms / 3
    const timer = setInterval(() => {
      if (!current || current.settled || Date.now() > current.until) return
      this.settle(name, "extend", current.token, {}, { patience: often })
        .catch((error) => this.log(`sillok: event ${current.id} was not extended: ${error.message}`))
    }, often)
    try {
      const path = `/v1/subscriptions/${encodeURIComponent(name)}/deliveries`
      for await (const line of this.#streamed(path, () => ({ window: 1 }), signal, `subscription ${name}`, { isLocal })) {
        if (!line.delivery) continue
        current = new Delivery(this, name, line, objects(raw(line), "event", 1)[0], Infinity)
        current.until = Date.now() + longest
        yield current
        await current.ack()
      }
    } finally {
      clearInterval(timer)
    }
  }

  /** Calls the handler for each delivery, `parallel` at a time. What it throws releases the delivery, and work goes on. It counts as
   * an attempt, unless it is what a node refused for now. */
  async run(name, handler, { parallel = 1, signal, ...options } = {}) {
    const stop = new AbortController()
    const end = () => stop.abort(signal?.reason)
    signal?.addEventListener("abort", end)
    const loop = async () => {
      for await (const delivery of this.work(name, { ...options, signal: stop.signal })) {
        try {
          await handler(delivery)
        } catch (error) {
          this.log(`sillok: ${name}: event ${delivery.id}, attempt ${delivery.attempt}, comes again: ${error?.stack ?? error}`)
          await delivery.release(String(error), undefined, error?.isRetriable === true)
            .catch((why) => this.log(`sillok: ${delivery.id} was not released: ${why.message}`))
          delivery.settled = true
        }
      }
    }
    try {
      await Promise.all(Array.from({ length: parallel }, loop))
    } finally {
      signal?.removeEventListener("abort", end)
      end()
    }
  }

  /** Answers a message once, whichever worker is first, and acks. The author is named as the subscription, unless said.
   * An answer in other words, which another worker has stored before, stays: then the line is of type `rejected`. Where someone
   * else's event has the id the next one is taken; where they have all eight the delivery is parked, and E_ID_REUSED thrown. */
  async reply(delivery, { text, author, label = "", data = {}, ack = true } = {}) {
    const bot = author ?? delivery.subscription
    const { id: cause, event: { user, subject }, patience } = delivery
    const answer = { type: "bot.replied", user, author: bot, cause, subject, data: text == null ? data : { ...data, text } }
    for (let turn = 1; ; turn++) {
      const id = await replyId(cause, bot, label, turn)
      let refusal
      const lines = await this.append({ id, ...answer }, { patience, ack: ack ? delivery : undefined })
        .catch((error) => error.code === "E_ID_REUSED" ? (refusal = error, error.results) : Promise.reject(error))
      if (!refusal || await this.#said(id, bot, cause, patience)) {
        if (ack && !(delivery.settled ||= lines.at(-1).done === 1)) await delivery.ack()
        return lines[0]
      }
      this.log(`sillok: ${delivery.subscription}: event ${cause}: someone else's event has the id of the reply, ${id}`)
      if (turn < REPLY_TURNS) continue
      this.log(`sillok: ${delivery.subscription}: event ${cause} is not answered, and parked`)
      await delivery.park("events of others have all ids that the reply could have")
      throw refusal
    }
  }

  /** Whether the event that has the id of a reply is one: of its author, about its cause. The id alone proves nothing. */
  async #said(id, author, cause, patience) {
    try {
      const found = (await this.request("GET", `/v1/events/${id}`, { accept: NDJSON, patience })).lines[0]
      return (found.author ?? found.user) === author && found.cause === cause
    } catch (error) {
      if (error.code === "E_NOT_FOUND") return false // one that the bot may not see
      throw error
    }
  }
}

/** An event that was given out, `raw` as it stands in the answer. `ack`, `release` or `park` settles it; the first of them counts. */
export class Delivery {
  #client

  constructor(client, subscription, { delivery, attempt, age_ms, event }, raw, patience = client.patience) {
    this.#client = client
    this.raw = raw
    Object.assign(this, { subscription, token: delivery, attempt, age_ms, event, patience, settled: false, until: 0 })
    Object.assign(this, { id: event.id, type: event.type, user: event.user, author: event.author ?? event.user, data: event.data ?? {} })
    this.conversation = event.subject?.startsWith("conversation/") ? event.subject.slice(13) : null
  }

  /** Tells the node, once. `ack` counts also when the event was given to another worker meanwhile; all else is of no use then. */
  async settle(verb, body) {
    if (this.settled) return
    try {
      await this.#client.settle(this.subscription, verb, this.token, body, { patience: this.patience, delivery: this })
    } catch (error) {
      if (error.code !== "E_DELIVERY_STALE") throw error
      this.#client.log(`sillok: ${this.subscription}: event ${this.id}: ${verb}: ${error.message}`)
    }
    this.settled = true
  }

  ack() { return this.settle("ack") }
  release(error, delay_ms, untried) { return this.settle("release", { error: error?.slice(0, 1000), delay_ms, untried }) }
  park(reason) { return this.settle("park", { reason }) }
}
