import type { Model } from '../../model/model.ts'
import type { Position } from '../../protocol/change.ts'
import { EncodedJson, type Json } from '../../protocol/json.ts'
import { RepeatedResponse, type ServiceRequest, type ServiceResponse } from '../../protocol/request.ts'
import type { PageKeys, RecordKey } from '../../storage/table-versions.ts'
import { isKnown } from './entity-tag.ts'

/** A cached answer. It was made without `If-None-Match`, so that it serves many requests. */
export class KeptAnswer {
  readonly response: ServiceResponse
  /** Set if the answer may be older than the request: the position at which it was read. */
  readonly #read: { readonly position: Position | undefined } | undefined
  /** The position that `#whole` and `#unchanged` name. */
  #position: Position | undefined
  #whole: RepeatedResponse | undefined
  #unchanged: RepeatedResponse | undefined

  constructor(response: ServiceResponse, read: { readonly position: Position | undefined } | undefined) {
    this.response = response
    this.#read = read
  }

  /** The response to a request. Requests that name the same position share the object. */
  for(request: ServiceRequest, latest: Position | undefined): ServiceResponse {
    const position = this.#read ? this.#read.position : latest
    const { status, headers, body } = this.response
    if (this.#whole === undefined || position !== this.#position) {
      const own = position === undefined ? headers : { 'Keelson-Position': position, ...headers }
      this.#position = position
      this.#whole = new RepeatedResponse(status, own, body as EncodedJson)
      this.#unchanged = undefined
    }
    const known = request.headers['if-none-match']
    if (known === undefined || !isKnown(headers.ETag as string, known)) return this.#whole
    this.#unchanged ??= new RepeatedResponse(304, this.#whole.headers)
    return this.#unchanged
  }
}

/** The keys of the records of a page, and their version before the page was read. */
export interface Page {
  readonly keys: PageKeys
  readonly version: string | undefined
}

/** The place of the answer to a list or of a record. */
export class CacheEntry {
  readonly #entries: Map<Json | undefined, CacheEntry>
  readonly #id: Json | undefined
  readonly record: RecordKey | undefined
  answer: KeptAnswer | undefined = undefined
  /** The versions of everything that the answer depends on, from before it was read. */
  versions: string | undefined = undefined
  page: Page | undefined = undefined
  bytes = 0

  /** `model`: of a record. */
  constructor(entries: Map<Json | undefined, CacheEntry>, id: Json | undefined, model: Model | undefined) {
    this.#entries = entries
    this.#id = id
    this.record = model && { table: model.table, column: model.primaryKey.column, id: id as Json }
  }

  /** The one that requests find. */
  get found(): CacheEntry | undefined {
    return this.#entries.get(this.#id)
  }

  enter(answer: KeptAnswer, versions: string, bytes: number): void {
    this.answer = answer
    this.versions = versions
    this.bytes = bytes
    this.#entries.set(this.#id, this)
  }

  leave(): void {
    this.answer = undefined
    this.#entries.delete(this.#id)
  }
}

/** One answer takes at most this fraction of the cache. */
const largestPart = 8
/** Estimated memory of an answer without its text, and of its keys. */
const overheadBytes = 1000

/** The cached answers in the order of their last use. The least recently used ones are dropped when the cache is full. */
export class KeptAnswers {
  readonly #maxBytes: number
  readonly #kept = new Set<CacheEntry>()
  /** The size of all cached answers. */
  bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  keep(entry: CacheEntry, versions: string, answer: KeptAnswer): void {
    if (this.#kept.delete(entry)) this.bytes -= entry.bytes
    // A concurrent request for the same answer may have been faster.
    if (entry.found && entry.found !== entry) this.drop(entry.found)
    const bytes = bytesOf(answer.response)
    if (bytes > this.#maxBytes / largestPart) {
      entry.leave()
      return
    }
    entry.enter(answer, versions, bytes)
    this.#kept.add(entry)
    this.bytes += bytes
    for (const oldest of this.#kept) {
      if (this.bytes <= this.#maxBytes) return
      this.drop(oldest)
    }
  }

  /** The order of use is not maintained before the cache is half full, because nothing is dropped until it is full. */
  use(entry: CacheEntry): void {
    if (this.bytes * 2 < this.#maxBytes) return
    this.#kept.delete(entry)
    this.#kept.add(entry)
  }

  drop(entry: CacheEntry): void {
    if (!this.#kept.delete(entry)) return
    this.bytes -= entry.bytes
    entry.leave()
  }
}

/** At most: parts may be joined to a text, and characters may have two bytes in memory. */
function bytesOf({ body }: ServiceResponse): number {
  if (!(body instanceof EncodedJson)) return Number.POSITIVE_INFINITY
  const { parts } = body
  const bytes = parts ? 3 * parts.reduce((sum, { length }) => sum + length, 0) : 2 * body.encoded.length
  return bytes + overheadBytes
}
