// The JavaScript client against real daemons.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import http from "node:http"
import { after, before, describe, it } from "node:test"
import { CursorError, eventId, replyId, Sillok, SillokError, Unreachable } from "../../clients/javascript/sillok.mjs"
import { all, joined, Lab, settled, silent, sleep, texts, until } from "./daemon.mjs"

const formats = readFileSync(new URL("../../docs/reference/FORMATS.md", import.meta.url), "utf8")
const refused = (code, promise) => assert.rejects(promise, (error) => {
  assert.ok(error instanceof SillokError, error.stack)
  assert.equal(error.code, code, error.message)
  return true
})
const lab = new Lab()
let a, client
before(async () => {
  a = await lab.started("a")
  client = a.client()
})
after(() => lab.end())

describe("ids", () => {
  it("makes the reply ids of FORMATS", async () => {
    const rows = [...formats.matchAll(/^\| ([0-9a-f-]{36}) \| `(.*?)` \| (?:`(.*?)`)? ?\| (\d) \| ([0-9a-f-]{36}) \|$/gm)]
    assert.equal(rows.length, 8)
    for (const [, message, bot, label, turn, id] of rows) assert.equal(await replyId(message, bot, label, Number(turn)), id)
    await assert.rejects(replyId("없음", "bot"), TypeError)
  })

  it("makes a UUIDv7 of now", () => {
    assert.match(eventId(), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.ok(Math.abs(parseInt(eventId().replace("-", "").slice(0, 12), 16) - Date.now()) < 5000)
    assert.equal(new Set(Array.from({ length: 1000 }, eventId)).size, 1000)
  })
})

describe("appending and reading", () => {
  it("stores once", async () => {
    const event = { id: eventId(), type: "message.posted", user: "u-1", subject: "conversation/c-1", data: { text: "안녕하세요" } }
    assert.deepEqual([(await client.append(event))[0].type, (await client.append(event))[0].type], ["appended", "already"])
    await refused("E_ID_REUSED", client.append({ ...event, data: { text: "다른 말" } }))
  })

  it("stores all or none, or each", async () => {
    const lines = [{ type: "message.posted", user: "u-2", data: { text: "좋아요" } }, { type: "", user: "u-2", data: {} }]
    const error = await client.append(lines).catch((error) => error)
    assert.deepEqual([error.code, error.status, error.results.map((line) => line.code)], ["E_TYPE", 422, ["E_BATCH", "E_TYPE"]])
    assert.deepEqual((await client.append(lines, { each: true })).map((line) => line.type), ["appended", "rejected"])
    await refused("E_VERSION", client.append(lines[0].constructor && { ...lines[0], subject: "conversation/c-2" }, { expect: ["c-2", 3] }))
    const derived = { ...lines[0], time: "2026-08-01T02:02:15.120Z" }
    assert.equal((await client.append(derived, { derived: true }))[0].type, "appended")
    assert.equal((await client.append(derived, { derived: true }))[0].type, "already")
  })

  it("gives back what JSON can say", async () => {
    const text = "한글 \"\\\n\t\0 🫀 \ud800 끝"
    const { id } = await client.post("u-5", text, "c/5 ?#%", { data: { 수: 1.5, 없음: null } })
    assert.deepEqual((await client.event(id)).data, { 수: 1.5, 없음: null, text })
    assert.deepEqual(texts(await all(client.rows("c/5 ?#%"))), [text])
    await refused("E_PAYLOAD_SIZE", client.post("u-5", "가".repeat(100_000)))
    await refused("E_BODY_SIZE", client.append(Array.from({ length: 45 }, () => ({ type: "a", user: "u", data: { x: "가".repeat(80_000) } }))))
    await refused("E_EMPTY", client.append([]))
  })

  it("reads page by page", async () => {
    const numbers = Array.from({ length: 700 }, (_, n) => `글 ${n}`)
    await client.append(numbers.map((text, n) => ({ type: "message.posted", user: "u-7", subject: `conversation/c7-${n % 7}`, data: { text } })))
    await client.append({ type: "profile.changed", user: "u-7", data: { fields: { 이름: "김하늘" } } })
    assert.deepEqual(texts(await all(client.history("u-7", { order: "oldest", type: ["message.posted"] }))), numbers)
    assert.equal((await all(client.rows("c7-3", { limit: 7 }))).length, 100)
    assert.ok((await all(client.conversations({ limit: 2 }))).length >= 7)
    assert.equal((await client.profile("u-7")).이름.value, "김하늘")
    await refused("E_NOT_FOUND", client.event(eventId()))
    await refused("E_PARAMETER", all(client.history("u-7", { limit: 0 })))
  })

  it("ends its patience, and takes no other address", async () => {
    const began = Date.now()
    const error = await new Sillok("unix:/nowhere.sock", { ...silent, patience: 500 }).post("u", "x").catch((error) => error)
    assert.ok(error instanceof Unreachable && Date.now() - began < 3000)
    await assert.rejects(new Sillok("http://127.0.0.1:1", { ...silent, patience: 0 }).changes(), Unreachable)
    for (const base of ["/run/syncd/api.sock", "ftp://x", "unix:", "http:/x", "https://"]) assert.throws(() => new Sillok(base), TypeError)
    assert.deepEqual(new Sillok("unix:syncd-dev/api.sock").bases, ["unix:syncd-dev/api.sock"])
  })

  it("stores one event each while the daemon is killed", async () => {
    const daemon = await lab.started("killed")
    const sent = []
    let stop = false
    const writers = [0, 1, 2, 3].map(async (number) => {
      const client = daemon.client({ patience: 60_000 })
      while (!stop) {
        const text = `${number}번 ${sent.length}`
        await client.post(`u-${number}`, text)
        sent.push(text)
      }
    })
    for (let n = 0; n < 3; n++) {
      await sleep(400)
      await daemon.kill()
      await daemon.start()
    }
    stop = true
    await Promise.all(writers)
    const stored = await Promise.all([0, 1, 2, 3].map((number) => all(daemon.client().history(`u-${number}`, { limit: 500 }))))
    assert.ok(sent.length > 50)
    assert.deepEqual(texts(stored.flat()).sort(), sent.sort())
  })
})

describe("over HTTP, as behind a proxy", () => {
  it("does all the same with fetch", async () => {
    const proxy = http.createServer((request, response) => {
      const onward = http.request({ socketPath: a.socket, path: request.url.replace(/^\/chat/, ""), method: request.method, headers: request.headers },
        (answer) => {
          response.writeHead(answer.statusCode, answer.headers)
          answer.pipe(response)
        })
      request.pipe(onward)
      response.on("close", () => onward.destroy())
    })
    await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve))
    try {
      const web = new Sillok(`http://127.0.0.1:${proxy.address().port}/chat/`, silent)
      await web.post("u-웹", "브라우저에서", "방 웹")
      for await (const event of web.follow("first", { user: "u-웹" })) {
        assert.equal(event.data.text, "브라우저에서")
        break
      }
      for await (const d of web.work("web", { start: "first", user: "u-웹", type: "message.posted" })) {
        await web.reply(d, { text: "답" })
        break
      }
      assert.deepEqual(texts(await all(web.rows("방 웹", { order: "oldest" }))), ["브라우저에서", "답"])
      await refused("E_PARAMETER", web.changes("bla"))
    } finally {
      proxy.closeAllConnections?.()
      proxy.close()
    }
  })
})

describe("the feed", () => {
  it("comes in pages and as a stream, with filters", async () => {
    const mine = { user: "u-feed" }
    for (let n = 0; n < 20; n++) await client.append({ type: n % 2 ? "message.posted" : "가.나", user: "u-feed", data: { text: `글 ${n}` } })
    const pages = []
    for (let page = { cursor: "first", more: true }; page.more;) {
      page = await client.changes(page.cursor, { ...mine, limit: 3 })
      pages.push(...page.items)
    }
    assert.deepEqual(texts(pages), Array.from({ length: 20 }, (_, n) => `글 ${n}`))
    const streamed = []
    for await (const line of client.follow("first", { ...mine, controls: true })) {
      if (line.control) break
      streamed.push(line)
    }
    assert.deepEqual(streamed, pages)
    assert.equal((await client.changes("first", { ...mine, type: "message.*" })).items.length, 10)
    assert.deepEqual(texts((await client.changes(pages[16].cursor, mine)).items), ["글 17", "글 18", "글 19"])
    await refused("E_PARAMETER", client.changes("now", { bla: 1 }))
    assert.equal(new CursorError("E_CURSOR", "m") instanceof SillokError, true)
  })

  it("ends when it is told to", async () => {
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 200)
    assert.deepEqual(await all(client.follow("now", { signal: stop.signal, user: "u-없음" })), [])
    const waited = client.changes("now", { wait_ms: 20_000, signal: stop.signal })
    await assert.rejects(waited)
  })

  it("misses nothing while the daemon is killed and stopped", async () => {
    const daemon = await lab.started("followed")
    const sent = [], found = []
    const { cursor } = await daemon.client().changes()
    const follower = (async () => {
      for await (const event of daemon.client({ patience: 60_000 }).follow(cursor)) {
        found.push(event.data.text)
        if (event.data.text === "끝") return
      }
    })()
    const writer = (async () => {
      const client = daemon.client({ patience: 60_000 })
      for (let n = 0; n < 300; n++) {
        await client.post("u-1", `글 ${n}`)
        sent.push(`글 ${n}`)
        await sleep(4)
      }
      await client.post("u-1", "끝")
    })()
    for (const how of ["kill", "stop", "kill"]) {
      await sleep(500)
      await daemon[how]()
      await daemon.start()
    }
    await Promise.all([writer, follower])
    assert.deepEqual(found, [...sent, "끝"])
  })

  it("goes on at the other node", async () => {
    const [one, two] = [await lab.started("one", true), await lab.started("two", true)]
    await joined(one, two)
    const both = new Sillok([one.base, two.base], silent)
    const { cursor } = await both.changes()
    const seen = new Set()
    const follower = (async () => {
      for await (const event of both.follow(cursor)) {
        if (event.data.text === "끝") return
        seen.add(event.data.text)
      }
    })()
    for (let n = 0; n < 20; n++) await one.client().post("u-1", `앞 ${n}`)
    await settled(one, two)
    await one.kill()
    for (let n = 0; n < 20; n++) await both.post("u-1", `뒤 ${n}`)
    await two.client().post("u-1", "끝")
    await follower
    assert.equal(seen.size, 40)
  })
})

describe("subscriptions", () => {
  it("are made once and settle deliveries", async () => {
    const made = await client.subscribe("s1", { start: "now", user: "u-s1", attempts: 2, backoff_ms: [0] })
    assert.equal((await client.subscribe("s1", { start: "now", user: "u-s1", attempts: 2, backoff_ms: [0] })).id, made.id)
    await refused("E_EXISTS", client.subscribe("s1", { start: "first" }))
    await refused("E_PARAMETER", client.subscribe("한글", { start: "now" }))
    await refused("E_PARAMETER", client.subscribe("s2", { start: "now", attempts: 1e300 }))
    assert.ok((await all(client.subscriptions())).some((line) => line.name === "s1"))
    const { id } = await client.post("u-s1", "하나", "방")
    await client.post("u-s1", "둘", "방")
    const pull = async () => (await client.pull("s1", { wait_ms: 5000 }))[0]
    const first = await pull()
    assert.deepEqual([first.id, first.attempt, first.conversation, first.data.text], [id, 1, "방", "하나"])
    await first.release("잘못", 0)
    await refused("E_DELIVERY_STALE", client.settle("s1", "extend", first.token))
    await (await pull()).release("또 잘못")
    const following = await pull()
    assert.equal(following.data.text, "둘")
    const [parked] = await client.parked("s1")
    assert.deepEqual([parked.event, parked.attempts, parked.error], [id, 2, "또 잘못"])
    await following.ack()
    await client.retry("s1", id)
    const again = await pull()
    assert.equal(again.id, id)
    await again.park("읽을 수 없음")
    assert.equal((await client.parked("s1"))[0].reason, "읽을 수 없음")
    await client.unsubscribe("s1")
    await refused("E_NOT_FOUND", client.pull("s1"))
    await refused("E_NOT_FOUND", all(client.work("s1")))
  })

  it("work: acks when the body goes on, and gives back when the loop is left", async () => {
    for (const n of [0, 1, 2]) await client.post("u-w1", `글 ${n}`, "방 w1")
    const seen = []
    await assert.rejects(async () => {
      for await (const d of client.work("w1", { start: "first", user: "u-w1" })) {
        seen.push(d.data.text)
        if (seen.length === 2) throw new RangeError("그만")
      }
    }, RangeError)
    assert.deepEqual(seen, ["글 0", "글 1"])
    const [again] = await client.pull("w1", { wait_ms: 5000 })
    assert.deepEqual([again.data.text, again.attempt], ["글 1", 2])
  })

  it("work: extends what takes long", async () => {
    await client.post("u-w2", "오래", "방 w2")
    for await (const d of client.work("w2", { start: "first", user: "u-w2", type: "message.posted", ack_wait_ms: 1000 })) {
      await sleep(2500)
      assert.deepEqual(await client.pull("w2", { wait_ms: 0 }), [])
      await client.reply(d, { text: "이제야" })
      break
    }
    assert.deepEqual(await client.pull("w2", { wait_ms: 1500 }), [])
  })

  it("reply: one is stored, whichever worker answers", async () => {
    await client.post("u-r", "질문", "방 r")
    await client.subscribe("r", { start: "first", user: "u-r", type: "message.posted", ack_wait_ms: 1000 })
    const [first] = await client.pull("r")
    const [second] = await client.pull("r", { wait_ms: 5000 })
    assert.equal((await client.reply(first, { text: "첫 답", author: "의료봇", label: "요약 2", ack: false })).type, "appended")
    assert.equal((await client.reply(second, { text: "첫 답", author: "의료봇", label: "요약 2", ack: false })).type, "already")
    assert.equal((await client.reply(second, { text: "다른 답", author: "의료봇", label: "요약 2" })).code, "E_ID_REUSED")
    const said = await a.ctl("append", "--reply-to", `${first.id}:요약 2`, "--author", "의료봇", "--text", "첫 답", "--json")
    assert.match(said, /"type":"already"/)
    assert.deepEqual(texts(await all(client.history("u-r", { role: "assistant" }))), ["첫 답"])
  })

  it("reply: someone else's event under its id is no reply: the next id is taken, and after eight it is parked", async () => {
    const told = [], other = a.client({ log: (message) => told.push(message) })
    for (const [taken, answered] of [[2, true], [8, false]]) {
      const [name, user] = [`taken-${taken}`, `u-taken-${taken}`]
      const { id: cause } = await client.post(user, "질문", `방 ${name}`)
      for (let turn = 1; turn <= taken; turn++) // of the bot, about something else; of someone else about this
        await client.append({ id: await replyId(cause, name, "", turn), type: "note.kept", user, data: {},
          ...(turn === 1 ? { author: name } : { cause }) })
      await client.subscribe(name, { start: "first", user, type: "message.posted" })
      const [delivery] = await other.pull(name)
      const line = await other.reply(delivery, { text: "답" }).catch((error) => ({ type: error.code }))
      assert.deepEqual([line.type, line.id], answered ? ["appended", await replyId(cause, name, "", 3)] : ["E_ID_REUSED", undefined])
      if (answered) assert.equal((await other.reply(delivery, { text: "다른 답", ack: false })).code, "E_ID_REUSED")
      assert.deepEqual(texts(await all(client.history(user, { role: "assistant" }))), answered ? ["답"] : [])
      const parked = await client.parked(name)
      assert.deepEqual(parked.map((one) => one.event), answered ? [] : [cause])
    }
    assert.ok(told.some((line) => line.includes("is not answered, and parked")), told.join("\n"))
  })

  it("run: what the handler throws is told, and it goes on, in parallel", async () => {
    for (let n = 0; n < 12; n++) await client.post("u-run", `글 ${n}`, `방 run-${n}`)
    const done = [], told = [], stop = new AbortController()
    let now = 0, most = 0
    const bot = a.client({ log: (message) => told.push(message) })
    await bot.run("run", async (d) => {
      most = Math.max(most, ++now)
      await sleep(100)
      now--
      if (d.data.text === "글 3" && d.attempt < 3) throw new TypeError("이상한 글")
      done.push(d.data.text)
      if (done.length === 12) stop.abort()
    }, { parallel: 4, signal: stop.signal, start: "first", user: "u-run", backoff_ms: [10] })
    assert.deepEqual([new Set(done).size, most], [12, 4])
    assert.equal(told.filter((message) => message.includes("이상한 글")).length, 2)
  })

  it("repeats what a full disk refuses with the same ids: no bot ends, and nothing is parked", async () => {
    const daemon = await lab.started("full"), client = daemon.client(), short = daemon.client({ patience: 200 }), stop = new AbortController()
    const names = { loop: {}, run: { attempts: 1 }, own: { attempts: 1, backoff_ms: [10] } }
    for (const [name, members] of Object.entries(names)) await client.subscribe(name, { start: "now", type: "message.posted", late_ms: 600_000, ...members })
    await client.post("u-1", "글", "방 1")
    await daemon.full()
    const tries = [], ended = []
    const loop = async () => {
      for await (const d of client.work("loop", { signal: stop.signal })) await client.reply(d, { text: "답 loop" })
    }
    const own = async (d) => {
      tries.push(d.attempt)
      await short.append({ id: await replyId(d.id, "own"), type: "bot.replied", user: "u-1", author: "own", data: { text: "답 own" } })
    }
    const bots = [loop(), client.run("run", (d) => client.reply(d, { text: "답 run" }), { signal: stop.signal }),
      client.run("own", own, { signal: stop.signal })].map((bot) => bot.finally(() => ended.push(1)))
    await Promise.race([...bots, until(() => tries.length >= 4)])
    assert.deepEqual([...new Set(tries)], [1])
    await daemon.full(false)
    const lines = () => all(client.subscriptions())
    await until(async () => (await lines()).every((line) => line.open === 0 && line.behind === 0))
    assert.deepEqual(texts(await all(client.history("u-1", { role: "assistant" }))).sort(), ["답 loop", "답 own", "답 run"])
    assert.deepEqual([ended, (await lines()).map((line) => line.parked)], [[], [0, 0, 0]])
    stop.abort()
    await Promise.all(bots)
  })

  it("misses nothing while the daemon is killed, and nothing acked comes again", async () => {
    const daemon = await lab.started("worked")
    const acked = new Set(), again = [], stop = new AbortController()
    const worker = daemon.client({ patience: 60_000 }).run("bot", async (d) => {
      if (acked.has(d.id)) again.push(d.id)
      await daemon.client({ patience: 60_000 }).reply(d, { text: `답: ${d.data.text}`, ack: false })
      await d.ack()
      acked.add(d.id)
    }, { parallel: 3, signal: stop.signal, start: "first", type: "message.posted" })
    const writer = (async () => {
      for (let n = 0; n < 150; n++) await daemon.client({ patience: 60_000 }).post("u-1", `글 ${n}`, `방 ${n % 15}`)
    })()
    for (let n = 0; n < 3; n++) {
      await sleep(600)
      await daemon.kill()
      await daemon.start()
    }
    await writer
    await until(() => acked.size === 150, 60_000)
    stop.abort()
    await worker
    const replies = texts(await all(daemon.client().history("u-1", { role: "assistant", limit: 500 })))
    assert.deepEqual(replies.sort(), Array.from({ length: 150 }, (_, n) => `답: 글 ${n}`).sort())
    assert.deepEqual(again, [])
  })
})
