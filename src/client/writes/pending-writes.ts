import type { RecordId } from '../../protocol/change.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { LiveQuery } from '../live/live-query.ts'
import { isAnswered, type PendingWrite } from './pending-write.ts'

/** A write that changed nothing has no token, so that the stream cannot name it: it is shown for this time. */
const unconfirmedMs = 5_000

/** The service takes at most as many in one request. */
const maxTokens = 1_000

/**
 * The writes that live queries show before the stream has brought them. A write is shown until the stream has passed its
 * operation: the answer and the stream carry the same token.
 */
export class PendingWrites {
  list: readonly PendingWrite[] = []
  /** The open queries by their names. */
  readonly queries = new Map<string, LiveQuery>()
  /** Tokens that the stream has passed while a write had no answer. */
  readonly #passed = new Set<string>()
  /** Counts what is sent and opened, to tell which came first. */
  time = 1
  openedAt = 0

  add(write: PendingWrite): void {
    this.list = [...this.list, write]
    this.#refresh(write)
  }

  remove(write: PendingWrite): void {
    this.list = this.list.filter((one) => one !== write)
    this.release()
    this.#refresh(write)
  }

  /** The answer of a write was received: it stays shown until the stream has passed it. */
  answered(write: PendingWrite): void {
    const { token } = write
    if (this.#passed.has(token as string)) this.#end(write)
    this.release()
    if (!token && this.list.includes(write)) setTimeout(() => this.remove(write), unconfirmedMs)
    this.#refresh(write)
  }

  /**
   * The writes whose tokens the stream may have passed before it opened, so that it would not tell them: answered ones that
   * were sent before, as many as one request may name.
   */
  toAsk(): readonly PendingWrite[] {
    const { openedAt } = this
    return this.list
      .filter(({ token, sentAt, askedAt }) => token && sentAt < openedAt && askedAt !== openedAt)
      .slice(0, maxTokens)
  }

  /** The rows of all queries contain the operations. */
  pass(tokens: readonly string[]): void {
    for (const token of tokens) {
      const write = this.list.find((one) => one.token === token)
      if (write) this.#end(write)
      else this.#passed.add(token)
    }
    this.release()
  }

  /** The writes that a query shows, in their order. */
  shownIn({ model }: LiveQuery): readonly PendingWrite[] {
    return this.list.filter((write) => write.optimistic && write.model === model)
  }

  /** The record of an update as another query with the same content has it. */
  elsewhere(query: LiveQuery, write: PendingWrite): JsonObject | undefined {
    for (const other of this.#of(write.model)) {
      const record = other !== query && other.content === query.content ? other.received(write.id) : undefined
      // Kept, because the other query may receive its change first, and then no longer has the record.
      if (record) write.before.set(query, record)
    }
    return write.before.get(query)
  }

  /** A record of a model as it is shown, by its key, which may be given as text. */
  shown(model: string, id: RecordId | undefined): JsonObject | undefined {
    return this.#of(model).flatMap(({ rows, key }) => rows.filter((row) => String(row[key]) === String(id)))[0]
  }

  isOffline(model: string): boolean {
    return this.#of(model).some(({ status }) => status === 'offline')
  }

  keyOf(model: string): string {
    return this.#of(model)[0]?.key ?? 'id'
  }

  #refresh({ model }: PendingWrite): void {
    for (const query of this.#of(model)) query.refresh()
  }

  #of(model: string): readonly LiveQuery[] {
    return [...this.queries.values()].filter((query) => query.model === model)
  }

  /** The stream has passed a write, and so the earlier ones of the same record: shown any longer, they would cover it. */
  #end(write: PendingWrite): void {
    for (const one of this.list.slice(0, this.list.indexOf(write) + 1))
      if (isAnswered(one) && one.model === write.model && one.id === write.id) this.remove(one)
  }

  /** Forgets answered writes that no query shows, and tokens that no write waits for. */
  release(): void {
    this.list = this.list.filter(
      (write) => !isAnswered(write) || (write.optimistic && this.#of(write.model).length > 0),
    )
    if (this.list.every(isAnswered)) this.#passed.clear()
  }
}
