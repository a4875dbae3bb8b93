// Payloads that are hard to read arrive by each way of the JavaScript client ("nothing is lost", INV-8).
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { after, before, it } from "node:test"
import { eventId, raw, SillokError } from "../../clients/javascript/sillok.mjs"
import { all, Lab } from "./daemon.mjs"

const conformance = fileURLToPath(new URL("../../../shared/data/conformance", import.meta.url))
const lab = new Lab()
let client
before(async () => {
  client = (await lab.started("a")).client()
})
after(() => lab.end())

/** Events with these values, as many as the node takes: their payloads by their ids. */
async function store(user, values) {
  const found = new Map()
  for (const value of values) {
    const id = eventId(), data = Buffer.concat([Buffer.from('{"text":"a","v":'), value.map((byte) => byte === 10 || byte === 13 ? 32 : byte), Buffer.from("}")])
    const head = JSON.stringify({ id, type: "message.posted", user, subject: `conversation/${user}` })
    const body = Buffer.concat([Buffer.from(head.slice(0, -1) + ',"data":'), data, Buffer.from("}")])
    try {
      await client.request("POST", "/v1/events", { body })
      found.set(id, data.toString())
    } catch (error) {
      if (!(error instanceof SillokError)) throw error // what is no JSON is refused
    }
  }
  return found
}

async function arrive(user, values, least) {
  const stored = await store(user, values), ids = [...stored.keys()]
  assert.ok(ids.length >= least, `${ids.length}`)
  const filter = { user, type: "message.posted" }, followed = []
  for await (const event of client.follow("first", filter)) {
    followed.push(event.id)
    assert.ok(raw(event).includes(stored.get(event.id)))
    if (event.id === ids.at(-1)) break
  }
  assert.deepEqual(followed, ids)
  for (const rows of [client.rows(user, { order: "oldest" }), client.history(user, { order: "oldest" })])
    assert.deepEqual((await all(rows)).map((row) => row.event.id), ids)
  const worked = []
  for await (const d of client.work(`work-${user}`, { start: "first", ...filter })) {
    worked.push(d.id)
    assert.ok(d.raw.includes(stored.get(d.id)))
    if (d.id === ids.at(-1)) break
  }
  assert.deepEqual(worked, ids)
  await client.subscribe(`pull-${user}`, { start: "first", order: "none", ...filter })
  const pulled = await client.pull(`pull-${user}`, { max: ids.length })
  assert.deepEqual(pulled.map((d) => d.id), ids)
  for (const d of pulled) assert.ok(d.raw.includes(stored.get(d.id)) && JSON.parse(d.raw).id === d.id)
}

const bytes = (texts) => texts.map((text) => Buffer.from(text))

it("numbers and decoys", async () => {
  const numbers = ["1".repeat(4301), "1e999", "0.1000000000000000055511151231257827", "-0", "123456789012345678901234567890"]
  await arrive("u-numbers", bytes(numbers), numbers.length)
  const decoys = ['{"event":{"event":{}}}', '[{"event":{"id":"x"}}]', String.raw`"\"event\":{"`, String.raw`{"\\":"}{][","a\"":"\\"}`, '"]}"']
  await arrive("u-decoys", bytes(decoys), decoys.length)
})

it("the corpora", { skip: !existsSync(conformance) && "shared/data/conformance is not there" }, async () => {
  const folder = join(lab.folder, "corpus")
  mkdirSync(folder)
  execFileSync("tar", ["--zstd", "-xf", join(conformance, "json_test_suite/json_test_suite.tar.zst"), "-C", folder])
  const files = readdirSync(join(folder, "test_parsing")).sort()
  await arrive("u-suite", files.map((name) => readFileSync(join(folder, "test_parsing", name))), 95)
  const naughty = JSON.parse(readFileSync(join(conformance, "naughty_strings/blns.json"), "utf8"))
  await arrive("u-naughty", bytes(naughty.map((text) => JSON.stringify(text))), naughty.length)
})

it("a number that JSON does not have is not sent", async () => {
  await assert.rejects(client.append({ type: "a", user: "u", data: { v: 1e999 } }), TypeError)
})
