import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { currentPoll } from '../../../support/last-check.ts'

/**
 * A read transaction that several requests share, because to begin and end one takes twice as long as to read a record. Requests
 * that arrived in the same poll of the event loop share it: all of them were sent before the transaction began, so none of them
 * can know of a later commit.
 */
export class SharedSnapshot {
  readonly #database: DatabaseSync
  readonly #isWriting: () => boolean
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #look: StatementSync
  /** The poll of the latest read. A read that is alone in its poll runs without a transaction, which is faster. */
  #latest: number | undefined
  /** The poll of the requests that share the open transaction. */
  poll: number | undefined
  /** True after `hold`: all reads use the open transaction, whatever their poll. */
  isHeld = false

  /**
   * `isWriting`: whether writes of this process are queued. No transaction is shared then, so that a request reads its own
   * writes.
   */
  constructor(database: DatabaseSync, isWriting: () => boolean) {
    this.#database = database
    this.#isWriting = isWriting
    this.#begin = database.prepare('begin')
    this.#commit = database.prepare('commit')
    this.#look = database.prepare('pragma data_version')
  }

  /** Called before a read of another poll than that of the open transaction. Undefined: the read must see the latest commit. */
  join(poll: number | undefined): void {
    this.end()
    const isShared = poll !== undefined && poll === this.#latest && poll === currentPoll()
    this.#latest = poll
    if (!isShared || this.#isWriting() || this.#database.isTransaction) return
    this.#begin.all()
    this.poll = poll
    // Ends before writes that are queued from now on are committed.
    setImmediate(this.end)
  }

  readonly end = (): void => {
    if (this.poll === undefined) return
    this.poll = undefined
    this.#endTransaction()
  }

  /** Keeps the current state for all reads until `release`. */
  hold(): void {
    this.end()
    this.#begin.all()
    this.isHeld = true
    this.#look.all() // a transaction has the state of its first read
  }

  release(): void {
    if (!this.isHeld) return
    this.isHeld = false
    this.#endTransaction()
  }

  #endTransaction(): void {
    // An error of the file ends a transaction as well.
    if (this.#database.isTransaction) this.#commit.all()
  }
}
