// How the JavaScript client takes answers that no healthy daemon gives: cut off, busy, from a proxy, from nodes that are not the home.
import assert from "node:assert/strict"
import net from "node:net"
import { afterEach, it } from "node:test"
import { CursorError, eventId, Sillok, SillokError, Unreachable } from "../../clients/javascript/sillok.mjs"
import { all, silent, until } from "./daemon.mjs"

const open = []
afterEach(() => open.splice(0).forEach((end) => end()))

const answer = (status, body, ...headers) =>
  [`HTTP/1.1 ${status} X`, `Content-Length: ${Buffer.byteLength(body)}`, "Connection: close", ...headers].join("\r\n") + "\r\n\r\n" + body
const chunked = (...parts) => "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
  + parts.map((part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`).join("")
const appended = '{"type":"appended","v":1,"line":1,"id":"x"}\n'
const end = '{"type":"end","v":1,"count":1}\n'
const error = (code) => `{"type":"error","v":1,"code":"${code}","message":"바쁨","hint":null}`
const event = { type: "a", user: "u", data: { 말: "한글" } }

/** A server whose n-th request gets the n-th answer, and all further ones the last. A function says what is answered. */
async function fake(...answers) {
  const requests = []
  const server = net.createServer((socket) => {
    let text = ""
    socket.on("error", () => {})
    socket.on("data", (data) => {
      text += data
      const [head, body] = text.split("\r\n\r\n")
      if (body === undefined || Buffer.byteLength(body) < Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)) return
      requests.push(`${head.split("\r\n")[0]}\n${body}`)
      const given = answers[Math.min(requests.length, answers.length) - 1]
      socket.end(given.call ? given(head, body) : given)
    })
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  open.push(() => server.close())
  return { base: `http://127.0.0.1:${server.address().port}`, requests }
}

it("repeats an append as it was", async () => {
  const cut = answer(200, appended + end).replace(/Content-Length: \d+/, "Content-Length: 500")
  for (const first of ["", cut, answer(200, appended), answer(200, appended + end.slice(0, 10)), answer(503, error("E_BUSY"), "Retry-After: 0"),
    answer(502, "<html>bad gateway</html>"), answer(429, error("E_RATE")), answer(507, error("E_DISK"))]) {
    const { base, requests } = await fake(first, answer(200, appended + end))
    assert.equal((await new Sillok(base, silent).append(event))[0].type, "appended", first)
    assert.equal(requests.length, 2)
    assert.equal(requests[0], requests[1])
  }
})

it("does not repeat what is not worth it", async () => {
  for (const [status, code] of [[400, "E_EMPTY"], [500, "E_INTERNAL"], [409, "E_CURSOR"]]) {
    const { base, requests } = await fake(answer(status, error(code)))
    const caught = await new Sillok(base, { ...silent, patience: 0 }).changes().catch((error) => error)
    assert.deepEqual([caught.code, caught.status, requests.length], [code, status, 1])
    assert.equal(caught instanceof CursorError, code === "E_CURSOR")
  }
})

it("passes over a node without room for the next", async () => {
  const [full, other] = [await fake(answer(507, error("E_DISK"))), await fake(answer(200, appended + end))]
  const client = new Sillok([full.base, other.base], { ...silent, patience: 0 })
  for (let n = 0; n < 2; n++) await client.append(event)
  assert.deepEqual([full.requests.length, other.requests.length], [1, 2])
  await assert.rejects(new Sillok(full.base, { ...silent, patience: 300 }).append(event), { code: "E_DISK", isRetriable: true })
  assert.ok(full.requests.length > 2)
})

/** A node that gives one delivery, and answers what is told of it as `settle(n, verb)` says: the n-th of its kind. */
async function worker(settle, ack_wait_ms = 30_000) {
  const counts = {}, told = {}
  const given = JSON.stringify({ delivery: "t", attempt: 1, event: { id: eventId(), type: "message.posted", user: "u" } }) + "\n"
  const { base } = await fake((head, body) => {
    const verb = /^\S+ \S*\/(\w+)[? ]/.exec(head)[1]
    counts[verb] = (counts[verb] ?? 0) + 1
    ;(told[verb] ??= []).push(body)
    if (verb === "bot") return answer(200, JSON.stringify({ type: "subscription", definition: { ack_wait_ms } }) + "\n")
    if (verb === "deliveries") return chunked('{"control":"heartbeat"}\n', ...counts[verb] < 2 ? [given] : [])
    return settle(counts[verb], verb)
  })
  return { base, told }
}

it("repeats an ack that is refused for now, and extends its delivery meanwhile", async () => {
  const { base, told } = await worker((n, verb) => verb === "ack" && n < 5 ? answer(507, error("E_DISK")) : answer(200, '{"done":1}'), 300)
  const stop = new AbortController()
  let hasEnded = false
  const loop = all(new Sillok(base, { ...silent, patience: 0 }).work("bot", { longest: 200, signal: stop.signal })).finally(() => { hasEnded = true })
  await until(() => told.ack?.length === 5)
  assert.equal(hasEnded, false)
  assert.ok(told.extend.length > 4) // each 0.1 s, for 1.1 s at least: not `longest` alone
  stop.abort()
  await loop
})

it("ends no loop by a release that counted although it was refused", async () => {
  const { base, told } = await worker((n) => n < 2 ? answer(507, error("E_DISK")) : answer(409, error("E_DELIVERY_STALE")))
  const stop = new AbortController()
  const loop = (async () => {
    for await (const d of new Sillok(base, silent).work("bot", { signal: stop.signal })) await d.release("later")
  })()
  await Promise.race([loop, until(() => told.deliveries?.length > 1)])
  assert.equal(told.release.length, 2)
  stop.abort()
  await loop
})

it("counts what a node refuses for now as no attempt", async () => {
  for (const [code, status, untried] of [["E_DISK", 507, true], ["E_BUSY", 503, true], ["E_UNREACHABLE", 0, true], ["E_VERSION", 409, false]]) {
    const { base, told } = await worker(() => answer(200, '{"count":1}'))
    const stop = new AbortController()
    const handle = async () => { throw new SillokError(code, "no", { status }) }
    const run = new Sillok(base, silent).run("bot", handle, { signal: stop.signal })
    await until(() => told.release)
    assert.equal(JSON.parse(told.release[0]).untried ?? false, untried, code)
    stop.abort()
    await run
  }
})

it("obeys Retry-After", async () => {
  const { base } = await fake(answer(503, error("E_BUSY"), "Retry-After: 1"), answer(200, appended + end))
  const began = Date.now()
  await new Sillok(base, silent).append(event)
  assert.ok(Date.now() - began >= 1000)
  const { base: far, requests } = await fake(answer(503, error("E_BUSY"), "Retry-After: 60"))
  await assert.rejects(new Sillok(far, { ...silent, patience: 40_000 }).append(event), { code: "E_BUSY" })
  assert.equal(requests.length, 1) // it is not asked sooner, and this is longer than it may take
})

it("takes Retry-After for the node that said it", async () => {
  const busy = await fake(answer(503, error("E_BUSY"), "Retry-After: 3600"))
  const other = await fake(answer(503, error("E_BUSY")), answer(200, appended + end))
  await new Sillok([busy.base, other.base], { ...silent, patience: 20_000 }).append(event)
  assert.deepEqual([busy.requests.length, other.requests.length], [1, 2])
})

it("goes on behind a body that is not of a node", async () => {
  const odd = ['{"message":"no healthy upstream"}', '{"type":"end"', '{"code":503}', '{"code":"Unavailable","message":{"a":1}}', '{"type":7}', "[]", "7",
    '"busy"', "null", "", "{}", "{", "\0\u0001", '{"detail":null}', '{"type":"end","v":1}\n{"message":"x"}']
  for (const body of odd) {
    for (const status of [503, 502, 429]) {
      const { base } = await fake(answer(status, body), answer(200, appended + end))
      assert.equal((await new Sillok(base, silent).append(event))[0].type, "appended", `${status} ${body}`)
    }
    for (const status of [301, 302, 307, 400, 404, 500]) {
      const { base, requests } = await fake(answer(status, body, "Location: /x"))
      await assert.rejects(new Sillok(base, silent).append(event), { code: `E_HTTP_${status}` }, `${status} ${body}`)
      assert.equal(requests.length, 1)
    }
  }
  for (const body of ["", "<html>sign in</html>", "[]", "\n\n"]) {
    const client = new Sillok((await fake(answer(200, body))).base, { ...silent, patience: 0 })
    for (const ask of [() => client.changes(), () => client.pull("bot"), () => client.settle("bot", "ack", "t")])
      await assert.rejects(ask(), { code: "E_HTTP_200" }, body)
  }
  for (const given of [answer(204, ""), answer(200, "<html>sign in</html>", "Content-Type: text/html")])
    for (const ask of [(client) => client.append(event), (client) => client.follow("now").next()])
      await assert.rejects(ask(new Sillok((await fake(given)).base, { ...silent, patience: 0 })), { code: /E_HTTP_20[04]/ })
})

it("looks for the home of a subscription, and remembers it", async () => {
  const other = await fake(answer(409, error("E_ELSEWHERE")))
  const home = await fake(answer(200, '{"deliveries":[]}'))
  const client = new Sillok([other.base, home.base], silent)
  for (let n = 0; n < 3; n++) assert.deepEqual(await client.pull("bot"), [])
  assert.deepEqual([other.requests.length, home.requests.length], [1, 3])
  await assert.rejects(new Sillok(other.base, silent).pull("bot"), { code: "E_ELSEWHERE" })
  await assert.rejects(new Sillok([other.base, "http://127.0.0.1:1"], { ...silent, patience: 200 }).pull("bot"), Unreachable)
})

it("goes on with a stream where it was cut", async () => {
  const line = (n) => JSON.stringify({ specversion: "1.0", id: `${n}`, data: { text: `글 ${n}` }, cursor: `c${n}` }) + "\n"
  const bytes = Buffer.from(line(3))
  const half = `${(34).toString(16)}\r\n`
  const { base, requests } = await fake(
    chunked(line(1) + line(2).slice(0, 20)), chunked(line(2), line(4).slice(0, 5)),
    Buffer.concat([Buffer.from(chunked()), Buffer.from(half), bytes.subarray(0, 34), Buffer.from(`\r\n${(bytes.length - 34).toString(16)}\r\n`),
      bytes.subarray(34), Buffer.from("\r\n")]),
    "", answer(503, error("E_BUSY")), chunked('{"control":"closing","retry_ms":50}\n'), chunked('{"control":"heartbeat","cursor":"c9"}\n'),
    chunked('{"control":"reset","reason":"restored"}\n'))
  const found = []
  await assert.rejects(async () => {
    for await (const event of new Sillok(base, { ...silent, patience: 0 }).follow("first", { type: ["한글", "b"] })) found.push(event.data.text)
  }, CursorError)
  assert.deepEqual(found, ["글 1", "글 2", "글 3"])
  assert.deepEqual(requests.map((request) => /after=(\w+)/.exec(request)[1]), ["first", "c1", "c2", "c3", "c3", "c3", "c3", "c9"])
  assert.match(requests[0], /type=%ED%95%9C%EA%B8%80&type=b/)
})

it("tells of a line that cannot be read, and does not ask for the stream again", async () => {
  const good = '{"id":"1","data":{},"cursor":"c1"}\n', bad = '{"id":"2","cursor":"c2","data":{"v":NaN}}\n'
  const { base, requests } = await fake(chunked(good + bad + good))
  const found = []
  await assert.rejects(async () => {
    for await (const event of new Sillok(base, silent).follow("first")) found.push(event.id)
  }, (error) => error.code === "E_PROTOCOL" && /"cursor":"c2", "id":"2"/.test(error.message))
  assert.deepEqual([found, requests.length], [["1"], 1])
  for (const ask of [(client) => client.changes(), (client) => all(client.rows("c")), (client) => client.event("2")]) {
    const { base, requests } = await fake(answer(200, bad + end))
    await assert.rejects(ask(new Sillok(base, silent)), { code: "E_PROTOCOL" })
    assert.equal(requests.length, 1)
  }
})

it("asks more and more seldom for streams that end at once", async () => {
  const one = chunked('{"id":"1","cursor":"c"}\n') + "0\r\n\r\n"
  const { base } = await fake(one, one, one, one, one, chunked('{"control":"reset","reason":"x"}\n'))
  const began = Date.now()
  await assert.rejects(all(new Sillok(base, silent).follow("first")), CursorError)
  assert.ok(Date.now() - began > 2_900) // 0.1 + 0.2 + … + 1.6 s
})

it("shows another token when a node answers 401", async () => {
  const { base, requests } = await fake(answer(401, error("E_TOKEN")), answer(200, '{"items":[]}'), answer(401, error("E_TOKEN")))
  const tokens = ["old", "new", "new"]
  const client = new Sillok(base, { ...silent, token: async () => tokens.shift() })
  assert.deepEqual(await client.changes(), { items: [] })
  assert.equal(requests.length, 2)
  await assert.rejects(client.changes(), { status: 401 })
  assert.deepEqual([requests.length, tokens], [3, []])
})

it("stays at one node for the pages of a list", async () => {
  const page = answer(200, '{"type":"event","event":{}}\n{"type":"end","count":1,"more":true,"next":"n"}\n')
  const [a, b] = [await fake(page, answer(503, error("E_BUSY"))), await fake(page)]
  await assert.rejects(all(new Sillok([a.base, b.base], { ...silent, patience: 200 }).history("u")), { code: "E_BUSY" })
  assert.equal(b.requests.length, 0)
})

it("waits not without end for the first connection", async () => {
  await assert.rejects(new Sillok("http://127.0.0.1:1", { ...silent, patience: 200 }).follow().next(), Unreachable)
  const { base } = await fake(answer(409, error("E_CURSOR_AHEAD")))
  await assert.rejects(new Sillok(base, { ...silent, patience: 300 }).follow("c").next(), { code: "E_CURSOR_AHEAD" })
})
