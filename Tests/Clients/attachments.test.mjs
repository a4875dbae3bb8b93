// Attachments and the lists of a user, in JavaScript: against a real daemon, and against answers that no healthy one gives.
import assert from "node:assert/strict"
import { createHash, randomBytes } from "node:crypto"
import { readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import http from "node:http"
import { join } from "node:path"
import { after, before, it } from "node:test"
import { SillokError, Unreachable } from "../../clients/javascript/sillok.mjs"
import { DigestError, Messenger, Sha256 } from "../../clients/javascript/sillok-messenger.mjs"
import { all, Lab, silent, texts } from "./daemon.mjs"

const sha = (bytes) => createHash("sha256").update(bytes).digest("hex")
const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(200_000)])
const lab = new Lab()
let a, messenger
before(async () => {
  a = await lab.started("a")
  messenger = new Messenger(a.base, silent)
})
after(() => lab.end())

it("hashes in pieces as Node does", () => {
  for (const length of [0, 1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000, 100_000]) {
    const bytes = randomBytes(length), hash = new Sha256()
    for (let at = 0; at < length; at += 37) hash.update(bytes.subarray(at, at + 37))
    assert.equal(hash.digest(), sha(bytes), `${length} bytes`)
  }
})

it("puts and gets", async () => {
  const path = join(lab.folder, "사진.png"), copy = join(lab.folder, "copy.png")
  writeFileSync(path, png)
  const expected = { sha256: sha(png), bytes: png.length, mediaType: "image/png" }
  for (const source of [path, png, new Blob([png])]) assert.deepEqual(await messenger.putAttachment(source), expected)
  await messenger.post("u-1", "사진", "c-1", { data: { attachments: [expected] } })
  assert.deepEqual(Buffer.from(await messenger.getAttachment(expected.sha256)), png)
  assert.deepEqual(await messenger.getAttachment(expected.sha256, copy), expected)
  assert.deepEqual(readFileSync(copy), png)
  const held = []
  await messenger.getAttachment(expected.sha256, new WritableStream({ write: (bytes) => void held.push(bytes) }))
  assert.deepEqual(Buffer.concat(held), png)
  const empty = await messenger.putAttachment(new Uint8Array())
  assert.deepEqual([empty.sha256, empty.bytes], [sha(""), 0])
  assert.equal((await messenger.putAttachment(Buffer.from("a,b\n"), "text/csv")).mediaType, "text/csv")
})

it("names the code of what is refused, and leaves no file", async () => {
  const before = readdirSync(lab.folder)
  await assert.rejects(messenger.getAttachment(sha("nowhere"), join(lab.folder, "nothing")), { code: "E_NOT_FOUND" })
  assert.deepEqual(readdirSync(lab.folder), before)
  const large = join(lab.folder, "large")
  writeFileSync(large, "")
  truncateSync(large, (100 << 20) + 1)
  await assert.rejects(messenger.putAttachment(large), { code: "E_ATTACHMENT_SIZE" })
})

it("has the lists of a user", async () => {
  const client = a.client()
  for (let n = 0; n < 5; n++) {
    await client.post("u-7", `글 ${n}`, `r-${n}`)
    await client.append({ type: "contact.added", user: "u-7", data: { contact: `u-8${n}` } })
  }
  const newest = [4, 3, 2, 1, 0].map((n) => `글 ${n}`)
  assert.deepEqual((await all(messenger.rooms("u-7", { limit: 2 }))).map((room) => room.last_text), newest)
  assert.deepEqual((await all(messenger.contacts("u-7", { limit: 2 }))).map((one) => one.contact), [0, 1, 2, 3, 4].map((n) => `u-8${n}`))
  assert.deepEqual(texts(await all(messenger.received("u-7", { limit: 2 }))), newest)
})

it("puts over TCP, from a path, and repeats it whole", async () => {
  const path = join(lab.folder, "long"), got = []
  writeFileSync(path, png)
  const server = http.createServer(async (request, response) => {
    const parts = []
    for await (const part of request) parts.push(part)
    got.push([request.headers["content-length"], request.headers["sillok-sha256"], request.headers["content-type"], sha(Buffer.concat(parts))])
    response.writeHead(got.length === 1 ? 503 : 201)
    response.end(got.length === 1 ? '{"code":"E_BUSY"}' : JSON.stringify({ sha256: sha(png), bytes: png.length, mediaType: "image/png", new: true }))
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  after(() => (server.closeAllConnections(), server.close()))
  const client = new Messenger(`http://127.0.0.1:${server.address().port}`, silent)
  assert.equal((await client.putAttachment(path, "image/png")).sha256, sha(png))
  assert.deepEqual(got, Array(2).fill([String(png.length), sha(png), "image/png", sha(png)]))
})

/** A server whose n-th answer breaks off behind so many bytes of what was asked. */
async function broken(data, plan, ranges = true) {
  const asked = []
  const server = http.createServer((request, response) => {
    const start = ranges && request.headers.range ? Number(request.headers.range.slice(6, -1)) : 0
    const step = plan[Math.min(asked.length, plan.length - 1)]
    asked.push(request.headers.range)
    response.writeHead(start ? 206 : 200, { "content-length": data.length - start, "content-type": "image/png" })
    response.flushHeaders()
    const part = data.subarray(start, start + step)
    response.write(part.length ? part : "", () => start + step >= data.length ? response.end() : setTimeout(() => response.destroy(), 20))
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  after(() => (server.closeAllConnections(), server.close()))
  return { asked, client: new Messenger(`http://127.0.0.1:${server.address().port}`, { ...silent, patience: 3000 }) }
}

it("goes on where it broke off, also behind a proxy that knows no ranges", async () => {
  const data = randomBytes(300_000)
  const { asked, client } = await broken(data, [100_000, 0, 150_000, 300_000])
  assert.deepEqual(Buffer.from(await client.getAttachment(sha(data))), data)
  assert.deepEqual(asked, [undefined, "bytes=100000-", "bytes=100000-", "bytes=250000-"])
  const plain = await broken(data, [100_000, 50_000, 300_000], false)
  assert.deepEqual(Buffer.from(await plain.client.getAttachment(sha(data))), data)
})

it("does not go on without end, and tells other bytes", async () => {
  const { client } = await broken(Buffer.alloc(1000), [500, 0])
  client.patience = 500
  await assert.rejects(client.getAttachment(sha(Buffer.alloc(1000))), (error) => error instanceof Unreachable && /500 of 1000/.test(error.message))
  const kept = join(lab.folder, "kept")
  writeFileSync(kept, "old")
  const before = readdirSync(lab.folder)
  const other = (await broken(Buffer.from("other bytes"), [1000])).client
  const wrong = (error) => error instanceof DigestError && error instanceof SillokError && error.code === "E_ATTACHMENT_DIGEST"
  await assert.rejects(other.getAttachment(sha("bytes"), kept), wrong)
  await assert.rejects(other.getAttachment(sha("bytes")), wrong)
  assert.deepEqual([readdirSync(lab.folder), readFileSync(kept, "utf8")], [before, "old"])
})
