import type { Position, RecordId } from '../../protocol/change.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { RequestError } from '../errors.ts'
import type { Query } from '../options.ts'
import { isSame } from '../same.ts'
import { isUnanswered, type PendingWrite } from '../writes/pending-write.ts'
import type { PendingWrites } from '../writes/pending-writes.ts'
import { applyDiff, type Diff, type Rows } from './diff.ts'
import { overlay } from './overlay.ts'

/** `catching-up` until the rows are current, `offline` while the service cannot be reached or refuses the connection. */
export type LiveStatus = 'live' | 'catching-up' | 'offline'

/** The state of a live query. A change creates a new object. */
export interface LiveSnapshot<Row> {
  /** The records, in the order of `sort`. */
  readonly rows: readonly Row[]
  readonly status: LiveStatus
  /** The number of records on all pages, if the query has `count: true`. */
  readonly total?: number | undefined
  /** Why the service ended the query, or the last error of the connection. */
  readonly error?: Error | undefined
}

/** `isOfStream`: the service has sent the rows; otherwise a write of this client, or its answer, has changed them. */
export type LiveListener<Row> = (snapshot: LiveSnapshot<Row>, isOfStream?: boolean) => void

/** The data of a frame with rows. Only that of all rows has `rows` and `key`. */
interface ReceivedRows extends Diff {
  readonly rows?: Rows
  readonly key?: string
  readonly total?: number | undefined
}

/** A query whose rows are kept as the service has them. */
export class LiveQuery {
  /** On the stream. */
  declare readonly name: string
  declare readonly model: string
  declare readonly query: Query
  /** Queries with the same content have records in the same form. */
  declare readonly content: string
  /** The name of the primary key, known from the first rows on. */
  key = 'id'
  /** Of the rows; undefined until there are any. */
  declare position: Position | undefined
  /** Adds it to the stream again, after it failed for the moment. */
  declare retry: ReturnType<typeof setTimeout> | undefined
  readonly #writes: PendingWrites
  readonly #close: () => void
  readonly #listeners = new Set<(isOfStream: boolean) => void>()
  /** Records that may be those of creates without an answer, which are shown with temporary ids. */
  readonly #withheld = new Map<RecordId, readonly PendingWrite[]>()
  #base: Rows = []
  #total: number | undefined
  #snapshot: LiveSnapshot<JsonObject> = { rows: [], status: 'catching-up' }
  readonly #ready = Promise.withResolvers<void>()
  /** Resolves with the first rows; rejects when the service refuses the query or the connection, and when it is closed before. */
  readonly ready = this.#ready.promise

  constructor(name: string, model: string, query: Query, writes: PendingWrites, close: () => void) {
    this.name = name
    this.model = model
    this.query = query
    this.content = JSON.stringify([query.select, query.omit, query.populate])
    this.#writes = writes
    this.#close = close
    this.ready.catch(() => {})
  }

  get rows(): readonly JsonObject[] {
    return this.#snapshot.rows
  }

  get status(): LiveStatus {
    return this.#snapshot.status
  }

  /** Calls the listener after every change of the snapshot, until the returned function is called. */
  subscribe = (listener: LiveListener<JsonObject>): (() => void) => {
    // One that throws is reported by the runtime, and ends neither the connection nor a write.
    const call = async (isOfStream: boolean) => listener(this.#snapshot, isOfStream)
    this.#listeners.add(call)
    return () => this.#listeners.delete(call)
  }

  getSnapshot = (): LiveSnapshot<JsonObject> => this.#snapshot

  close(): void {
    this.#listeners.clear()
    this.#close()
    this.#ready.reject(new Error('The query was closed'))
  }

  /** What it continues from. */
  get held(): JsonObject {
    return this.position ? { after: this.position, ids: this.#base.map((row) => row[this.key] as RecordId) } : {}
  }

  /** A record as the service has sent it. */
  received(id: RecordId): JsonObject | undefined {
    return this.#base.find((row) => row[this.key] === id)
  }

  /** Takes over rows or a difference, which `setCurrent` shows: the pending writes that they contain are named in between. */
  receive({ rows, key = this.key, total = this.#total, ...diff }: ReceivedRows): void {
    // A record that is displayed with its id is not the one of a create without an answer.
    const had = new Set([...this.#base, ...this.rows].map((row) => row[this.key]))
    this.key = key
    this.#base = rows ?? applyDiff(this.#base, diff, key)
    this.#total = total
    const creates = this.position ? this.#writes.shownIn(this).filter(isUnanswered) : []
    for (const row of this.#base) if (!had.has(row[key])) this.#withheld.set(row[key] as RecordId, creates)
  }

  /** The rows are those at the position, and are shown. */
  setCurrent(position: Position | undefined): void {
    this.position = position ?? this.position
    this.refresh('live', null)
    this.#ready.resolve()
  }

  /** The service refused the query, or the connection. */
  fail(error: RequestError): void {
    this.refresh('offline', error)
    this.#ready.reject(error)
  }

  /** Applies the pending writes to the rows, and tells the listeners if the result differs. */
  refresh(status: LiveStatus = this.status, given: Error | null | undefined = this.#snapshot.error): void {
    const error = given ?? undefined
    const writes = this.#writes.shownIn(this)
    // The one that made the record has its id when it is answered.
    for (const [id, creates] of this.#withheld)
      if (!creates.some(isUnanswered) || creates.some((write) => write.id === id)) this.#withheld.delete(id)
    const base = this.#base.filter((row) => !this.#withheld.has(row[this.key] as RecordId))
    const overlaid = overlay(base, writes, this.query, this.key, (write) => this.#writes.elsewhere(this, write))
    const rows = keepSame(this.rows, overlaid, this.key)
    const total = this.#total === undefined ? undefined : this.#total + rows.length - this.#base.length
    const last = this.#snapshot
    if (rows === last.rows && status === last.status && total === last.total && error === last.error) return
    this.#snapshot = { rows, status, total, error }
    for (const listener of this.#listeners) listener(given === null)
  }
}

/** The list, with the objects that were shown before in place of equal ones, so that a renderer can skip them. */
function keepSame(before: Rows, after: Rows, key: string): Rows {
  const known = new Map(before.map((row) => [row[key], row]))
  const rows = after.map((row) => {
    const shown = known.get(row[key])
    return shown && isSame(shown, row) ? shown : row
  })
  return rows.length === before.length && rows.every((row, index) => row === before[index]) ? before : rows
}
