// A real daemon in a folder of its own, for the tests of the JavaScript client.
import { execFile, spawn } from "node:child_process"
import { mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { Sillok } from "../../clients/javascript/sillok.mjs"

const root = fileURLToPath(new URL("../..", import.meta.url))
const binaries = process.env.SILLOK_BIN || join(root, ".build/debug")
const run = promisify(execFile)

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
export const silent = { log() {} }

/** Waits for something that holds. */
export async function until(what, ms = 15_000) {
  for (const end = Date.now() + ms; ; await sleep(20)) {
    const found = await what()
    if (found) return found
    if (Date.now() > end) throw new Error(`it did not come to hold in time: ${what}`)
  }
}

/** All lines of an iterator. */
export async function all(lines) {
  const found = []
  for await (const line of lines) found.push(line)
  return found
}

export const texts = (lines) => lines.map((line) => (line.event ?? line).data.text)

export class Daemon {
  constructor(folder, name, peers = false) {
    Object.assign(this, { store: join(folder, name), socket: join(folder, `${name}.sock`), name, peers, process: null })
    this.base = `unix:${this.socket}`
    writeFileSync(`${this.store}.json5`, "{}")
  }

  async start() {
    const log = openSync(`${this.store}.log`, "a")
    const flags = ["--config", `${this.store}.json5`, "--data-dir", this.store, "--socket", this.socket, "--node-name", this.name]
    flags.push("--log-level", "warning")
    if (this.peers) flags.push("--peer-listen", "127.0.0.1:0")
    this.process = spawn(join(binaries, "syncd"), flags, { stdio: ["ignore", log, log] })
    this.process.ended = new Promise((resolve) => this.process.on("exit", resolve))
    await until(() => this.isReady(), 30_000)
    return this
  }

  isReady() {
    return this.client({ patience: 0 }).request("GET", "/readyz").then(() => true, () => false)
  }

  /** What the daemon takes for a full disk: appends are refused with 507. */
  async full(isFull = true) {
    writeFileSync(`${this.store}.json5`, isFull ? '{ storage: { min_free: "900TiB" } }' : "{}")
    this.process.kill("SIGHUP")
    await until(async () => await this.isReady() !== isFull)
  }

  client(options = {}) {
    return new Sillok(this.base, { ...silent, ...options })
  }

  async ctl(...words) {
    return (await run(join(binaries, "syncctl"), [...words, "--store", this.store], { timeout: 60_000 })).stdout
  }

  async vector() {
    const lines = (await this.ctl("vector", "--json")).trim().split("\n").map((line) => JSON.parse(line))
    return lines.filter((line) => line.type === "origin").map((line) => `${line.origin}/${line.seq}`).sort().join(" ")
  }

  async end(how) {
    this.process?.kill(how)
    await this.process?.ended
    this.process = null
  }

  kill() { return this.end("SIGKILL") }
  stop() { return this.end("SIGTERM") }
}

/** Daemons of a test file, which end with it. */
export class Lab {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "sillok-clients-"))
    this.daemons = []
  }

  async started(name, peers = false) {
    this.daemons.push(new Daemon(this.folder, name, peers))
    return this.daemons.at(-1).start()
  }

  async end() {
    for (const daemon of this.daemons) await daemon.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export const settled = (a, b) => until(async () => (await a.vector()) === (await b.vector()), 30_000)

export async function joined(a, b) {
  const [line] = (await a.ctl("peers", "invite")).match(/sillok:\/\/\S+/)
  await b.ctl("peers", "join", line)
  await settled(a, b)
}
