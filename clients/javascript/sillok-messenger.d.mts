/** Types of sillok-messenger.mjs. What the members of answers mean: docs/operating/attachments.md, docs/operating/api.md ("Rooms"). */
import { Query, Row, Sillok, SillokError } from "./sillok.mjs"

/** What an item of `attachments` takes as it is. */
export interface StoredAttachment {
  sha256: string
  bytes: number
  mediaType: string
}

export class DigestError extends SillokError {}

export class Sha256 {
  update(bytes: Uint8Array): this
  digest(): string
}

export class Messenger extends Sillok {
  putAttachment(source: string | URL | Blob | ArrayBuffer | ArrayBufferView, mediaType?: string, options?: { signal?: AbortSignal }): Promise<StoredAttachment>
  getAttachment(sha256: string, to?: undefined | null, options?: { signal?: AbortSignal }): Promise<Uint8Array>
  getAttachment(sha256: string, to: string | URL | WritableStream<Uint8Array>, options?: { signal?: AbortSignal }): Promise<StoredAttachment>
  rooms(user: string, query?: { limit?: number; cursor?: string; all?: 1; language?: string }): AsyncGenerator<Row>
  contacts(user: string, query?: { limit?: number; cursor?: string }): AsyncGenerator<Row>
  received(user: string, query?: Pick<Query, "limit" | "cursor" | "since" | "until" | "author">): AsyncGenerator<Row>
}
