/**
 * What messengers need beside `sillok.mjs`: attachments and the lists of a user. Node 18 and later, and browsers. No dependencies.
 *
 *     import { Messenger } from "./sillok-messenger.mjs"
 *     const sillok = new Messenger("unix:/run/syncd/api.sock")
 *     const photo = await sillok.putAttachment("photo.jpg")
 *     await sillok.post("u-1029", "사진", "c-88", { data: { attachments: [photo] } })
 *     await sillok.getAttachment(photo.sha256, "copy.jpg")
 */
import { Sillok, SillokError, Unreachable } from "./sillok.mjs"

const PIECE = 64 << 10 // bytes in memory at a time
const node = globalThis.process?.versions?.node ? { crypto: await import("node:crypto"), fs: await import("node:fs/promises"),
  stream: await import("node:stream") } : null

/** The bytes that came are not those that the SHA-256 names. Nothing of them stands where `to` is a path. */
export class DigestError extends SillokError {}

const primes = Array.from({ length: 312 }, (_, n) => n).filter((n) => n > 1 && Array.from({ length: n }, (_, k) => k).every((k) => k < 2 || n % k))
const fraction = (root) => Math.floor((root % 1) * 2 ** 32)
const K = Uint32Array.from(primes.slice(0, 64), (prime) => fraction(Math.cbrt(prime)))

/** SHA-256 in pieces, for browsers: theirs takes only what is whole in memory. */
export class Sha256 {
  #state = Uint32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)))
  #rest = new Uint8Array(64)
  #words = new Uint32Array(64)
  #count = 0

  update(bytes) {
    for (let at = 0; at < bytes.length;) {
      const part = bytes.subarray(at, at + 64 - (this.#count % 64))
      this.#rest.set(part, this.#count % 64)
      at += part.length
      this.#count += part.length
      if (this.#count % 64 === 0) this.#block()
    }
    return this
  }

  #block() {
    const w = this.#words, view = new DataView(this.#rest.buffer), turn = (x, n) => (x >>> n) | (x << (32 - n))
    for (let i = 0; i < 16; i++) w[i] = view.getUint32(i * 4)
    for (let i = 16; i < 64; i++) {
      const [x, y] = [w[i - 15], w[i - 2]]
      w[i] = w[i - 16] + w[i - 7] + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10))
    }
    let [a, b, c, d, e, f, g, h] = this.#state
    for (let i = 0; i < 64; i++) {
      const one = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + w[i]
      const two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
      ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0]
    }
    ;[a, b, c, d, e, f, g, h].forEach((word, i) => { this.#state[i] += word })
  }

  digest() {
    const bits = this.#count * 8, end = new Uint8Array(((119 - (this.#count % 64)) % 64) + 9)
    end[0] = 0x80
    new DataView(end.buffer).setUint32(end.length - 8, Math.floor(bits / 2 ** 32))
    new DataView(end.buffer).setUint32(end.length - 4, bits % 2 ** 32)
    this.update(end)
    return [...this.#state].map((word) => word.toString(16).padStart(8, "0")).join("")
  }
}

const hasher = () => {
  if (!node) return new Sha256()
  const hash = node.crypto.createHash("sha256")
  return { update: (bytes) => hash.update(bytes), digest: () => hash.digest("hex") }
}

/** `read(at, count)` and `size` of what is to be sent: a path (Node), bytes, or a Blob, as a File of a browser. */
async function opened(source) {
  if (typeof source === "string" || source instanceof URL) {
    if (!node) throw new TypeError("a path needs Node: give a File")
    const file = await node.fs.open(source)
    const read = async (at, count) => {
      const { bytesRead, buffer } = await file.read(new Uint8Array(count), 0, count, at)
      return buffer.subarray(0, bytesRead)
    }
    return { size: (await file.stat()).size, read, close: () => file.close() }
  }
  if (source instanceof Blob)
    return { size: source.size, read: async (at, count) => new Uint8Array(await source.slice(at, at + count).arrayBuffer()), close() {} }
  const bytes = ArrayBuffer.isView(source) ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength) : new Uint8Array(source)
  return { size: bytes.length, read: async (at, count) => bytes.subarray(at, at + count), close() {} }
}

async function* piecesOf({ read, size }) {
  for (let at = 0; at < size;) {
    const piece = await read(at, Math.min(PIECE, size - at))
    if (!piece.length) throw new RangeError("the file became shorter while it was sent")
    at += piece.length
    yield piece
  }
}

/** Where bytes go: a path (Node), whose file gets its name when all is well; a WritableStream; or memory. */
async function target(to) {
  if (typeof to === "string" || to instanceof URL) {
    if (!node) throw new TypeError("a path needs Node: give a WritableStream")
    const path = to instanceof URL ? decodeURIComponent(to.pathname) : to
    const part = `${path}.${node.crypto.randomUUID()}.part`
    const file = await node.fs.open(part, "wx")
    return { write: (bytes) => file.writeFile(bytes), done: async () => { await file.close(); await node.fs.rename(part, path) },
      undo: async () => { await file.close().catch(() => {}); await node.fs.rm(part, { force: true }) } }
  }
  if (to) {
    const writer = to.getWriter()
    return { write: (bytes) => writer.write(bytes), done: () => writer.close(), undo: (error) => writer.abort(error).catch(() => {}) }
  }
  const held = []
  const all = async () => held.length === 1 ? held[0] : new Uint8Array(await new Blob(held).arrayBuffer())
  return { write: async (bytes) => { held.push(bytes) }, done: all, undo: async () => {} }
}

/** A `Sillok` that puts and gets attachments (docs/operating/attachments.md) and tells the lists of a user. */
export class Messenger extends Sillok {
  /** Keeps the bytes of a path (Node), a Blob or an array of bytes. Answers `sha256`, `bytes` and `mediaType`, which an item of
   * `attachments` takes as they are. What is sent is read twice: once for its SHA-256, which goes along. A browser sends a Blob. */
  async putAttachment(source, mediaType, { signal } = {}) {
    const file = await opened(source)
    try {
      const hash = hasher()
      for await (const piece of piecesOf(file)) hash.update(piece)
      const headers = { "content-type": mediaType || source.type || "application/octet-stream", "sillok-sha256": hash.digest() }
      if (node) headers["content-length"] = String(file.size)
      const body = node && file.size ? () => node.stream.Readable.from(piecesOf(file), { objectMode: false }) : source
      const [line] = (await this.request("POST", "/v1/attachments", { body: file.size ? body : undefined, headers, signal })).lines
      return { sha256: line.sha256, bytes: line.bytes, mediaType: line.mediaType }
    } finally {
      await file.close()
    }
  }

  /** The bytes, or with `to` (a path, or a WritableStream) `sha256`, `bytes` and `mediaType` of what was written there. Where the
   * connection breaks it goes on behind what has come. Other bytes than the SHA-256 names: DigestError; a path has nothing of them. */
  async getAttachment(sha256, to, { signal } = {}) {
    const place = await target(to)
    try {
      const item = await this.#fetch(sha256, place.write, signal)
      const bytes = await place.done()
      return to ? item : bytes
    } catch (error) {
      await place.undo(error)
      throw error
    }
  }

  async #fetch(sha256, write, signal) {
    const hash = hasher(), path = `/v1/attachments/${encodeURIComponent(sha256)}`
    let count = 0, until = Date.now() + this.patience
    for (let growing = 100; ; growing = Math.min(growing * 2, 5000)) {
      const headers = { "accept-encoding": "identity", ...(count ? { range: `bytes=${count}-` } : {}) }
      const answer = await this.request("GET", path, { accept: "*/*", stream: true, headers, patience: Math.max(0, until - Date.now()), signal })
      const stated = answer.headers.get("content-encoding") ? null : answer.headers.get("content-length")
      const total = stated == null ? null : Number(stated) + (answer.status === 206 ? count : 0)
      let skip = answer.status === 206 ? 0 : count // who does not know ranges sends all again
      let whole = true
      const before = count, chunks = answer.chunks()
      try {
        for (;;) {
          const part = await chunks.next().catch(() => { whole = false })
          if (!part || part.done) break
          const piece = part.value.subarray(skip)
          skip -= part.value.length - piece.length
          hash.update(piece)
          await write(piece)
          count += piece.length
        }
      } finally {
        await chunks.return()
      }
      signal?.throwIfAborted()
      if (total == null ? whole : count >= total) {
        const found = hash.digest(), hint = "get it again, or at another node"
        if (found !== sha256) throw new DigestError("E_ATTACHMENT_DIGEST", `attachment ${sha256} came as ${found}`, { hint })
        return { sha256, bytes: count, mediaType: answer.headers.get("content-type") ?? "application/octet-stream" }
      }
      if (count > before) [until, growing] = [Date.now() + this.patience, 100]
      const told = `attachment ${sha256} broke off behind ${count} of ${total ?? "?"} bytes`
      if (Date.now() + growing > until) throw new Unreachable("E_UNREACHABLE", `${answer.base}: ${told}`, { hint: "again later" })
      this.log(`sillok: ${told}; on in ${growing} ms`)
      await new Promise((resolve) => setTimeout(resolve, growing))
    }
  }

  /** A user's conversations, the latest message first: `last_text`, `unread`, `others` … (docs/operating/api.md, "Rooms").
   * `all: 1`: those, too, that were hidden or left. */
  rooms(user, query) {
    return this.pages(`/v1/users/${encodeURIComponent(user)}/conversations`, query)
  }

  /** Whom a user keeps, by id. */
  contacts(user, query) {
    return this.pages(`/v1/users/${encodeURIComponent(user)}/contacts`, query)
  }

  /** Messages of all conversations of a user, the newest first: what the user saw. `since`, `until`, `author` go with it. */
  received(user, query) {
    return this.history(user, { ...query, received: 1 })
  }
}
