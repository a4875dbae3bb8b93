/** Types of sillok.mjs. What the members of events and answers mean: docs/operating/following.md, docs/operating/api.md. */

export interface SillokEvent {
  specversion: "1.0"
  id: string
  type: string
  source: string
  time: string
  subject?: string
  user: string
  author?: string
  cause?: string
  dataversion?: number
  sequence: string
  position: string
  hlc: string
  data?: any
  erased?: true
  /** Of the feed: the place behind this event. */
  cursor?: string
  [member: string]: unknown
}

/** An event to be stored (docs/reference/FORMATS.md §4). */
export interface NewEvent {
  id?: string
  type: string
  user: string
  data: object
  /** `conversation/<id>` */
  subject?: string
  author?: string
  cause?: string
  time?: string
  dataversion?: number
  recordid?: string
  source?: string
}

/** What became of an event of an append. */
export interface Result {
  type: "appended" | "already" | "rejected"
  line: number
  id?: string
  position?: number
  origin?: string
  sequence?: number
  hlc?: string
  /** What stands there is erased: what was handed in was not stored. */
  erased?: boolean
  code?: string
  message?: string
}

export interface Row {
  type: string
  event?: SillokEvent
  [member: string]: any
}

export interface Control {
  control: "caught-up" | "heartbeat"
  cursor: string
  vector?: string
}

export interface Options {
  /** The text of a token (docs/operating/access.md), or what gives it: asked first, and again when a node answers 401. */
  token?: string | (() => string | Promise<string>)
  /** Milliseconds for which a request is repeated; 30,000 unless said. */
  patience?: number
  /** Sent with each request, as for a proxy. */
  headers?: Record<string, string>
  /** Told of each pause and of what a handler throws; console.warn unless said. */
  log?: (message: string) => void
}

type Words = string | string[]

export interface Filter {
  type?: Words
  user?: Words
  author?: Words
  conversation?: Words
}

export interface FeedFilter extends Filter {
  /** The id of an origin, or `local`. */
  origin?: string
}

export interface Query {
  limit?: number
  cursor?: string
  order?: "newest" | "oldest"
  since?: string
  until?: string
  role?: "user" | "assistant" | "all"
  type?: Words
  author?: Words
  conversation?: Words
  known_at?: number
}

/** Members of a subscription beside `start` and the filter. */
export interface Members {
  late_ms?: number | null
  ack_wait_ms?: number
  attempts?: number
  backoff_ms?: number[]
  order?: "conversation" | "none"
}

export interface WorkOptions extends Filter, Members {
  /** `now`, `first`, a time or a vector: makes the subscription if it is not there. */
  start?: string
  /** A delivery is extended for so many milliseconds at most; 600,000 unless said. */
  longest?: number
  signal?: AbortSignal
}

export interface Reply {
  text?: string
  /** Named as the subscription, unless said. */
  author?: string
  /** Tells several replies of one bot to one message apart. */
  label?: string
  /** Members of the payload beside `text`. */
  data?: object
  /** false: acks nothing yet, as before a second reply. */
  ack?: boolean
}

export interface Request {
  query?: Record<string, unknown>
  /** A function gives it anew for each attempt. */
  body?: any
  accept?: string
  /** Beside those of all requests. */
  headers?: Record<string, string>
  /** Only this node is asked. */
  base?: string
  patience?: number
  signal?: AbortSignal
}

export class SillokError extends Error {
  /** Never changes its meaning (docs/reference/ERRORS.md). */
  code: string
  hint: string | null
  /** Of HTTP; 0 where no answer came. */
  status: number
  /** The same request may succeed later. */
  isRetriable: boolean
  /** The object that the node answered. */
  body: Record<string, any>
  /** Where events were not taken: a line for each event of the request. */
  results: Result[]
}
export class Unreachable extends SillokError {}
export class CursorError extends SillokError {}

export function eventId(): string
/** The text of a line as it came, with all digits of its numbers; undefined for what is no line. */
export function raw(line: object): string | undefined
export function replyId(message: string, bot: string, label?: string, turn?: number): Promise<string>

export class Delivery {
  readonly subscription: string
  readonly token: string
  readonly attempt: number
  readonly age_ms: number
  readonly event: SillokEvent
  /** The text of the event as the node gave it. */
  readonly raw: string
  readonly id: string
  readonly type: string
  readonly user: string
  readonly author: string
  readonly conversation: string | null
  readonly data: any
  settled: boolean
  patience: number
  settle(verb: string, body?: object): Promise<void>
  ack(): Promise<void>
  /** `untried`: it counts as no attempt. */
  release(error?: string, delay_ms?: number, untried?: boolean): Promise<void>
  park(reason: string): Promise<void>
}

export class Sillok {
  readonly bases: string[]
  constructor(bases?: string | string[], options?: Options)
  request(method: string, path: string, request?: Request): Promise<{ base: string; status: number; lines: any[] }>
  append(
    events: NewEvent | NewEvent[],
    options?: { expect?: [string, number]; each?: boolean; derived?: boolean; ack?: Delivery; patience?: number; signal?: AbortSignal },
  ): Promise<Result[]>
  post(user: string, text: string, conversation?: string | null, members?: Partial<NewEvent>): Promise<Result>
  /** All lines of a list, page by page. */
  pages(path: string, query?: object): AsyncGenerator<Row>
  history(user: string, query?: Query): AsyncGenerator<Row>
  rows(conversation: string, query?: Query): AsyncGenerator<Row>
  conversations(query?: Query): AsyncGenerator<Row>
  profile(user: string): Promise<Record<string, Row>>
  event(id: string): Promise<SillokEvent>
  changes(
    after?: string,
    query?: FeedFilter & { limit?: number; wait_ms?: number; signal?: AbortSignal },
  ): Promise<{ items: SillokEvent[]; cursor: string; more: boolean }>
  follow(after?: string, options?: FeedFilter & { controls?: false; signal?: AbortSignal }): AsyncGenerator<SillokEvent>
  follow(after: string, options: FeedFilter & { controls: true; signal?: AbortSignal }): AsyncGenerator<SillokEvent | Control>
  subscribe(name: string, members: { start: string } & Filter & Members): Promise<Row>
  subscriptions(): AsyncGenerator<Row>
  unsubscribe(name: string): Promise<void>
  pull(name: string, options?: { max?: number; wait_ms?: number; signal?: AbortSignal }): Promise<Delivery[]>
  settle(name: string, verb: string, tokens: string | string[], body?: object, options?: { patience?: number }): Promise<any>
  parked(name: string): Promise<Row[]>
  retry(name: string, ...events: string[]): Promise<void>
  work(name: string, options?: WorkOptions): AsyncGenerator<Delivery>
  run(name: string, handler: (delivery: Delivery) => unknown, options?: WorkOptions & { parallel?: number }): Promise<void>
  reply(delivery: Delivery, reply?: Reply): Promise<Result>
}
