import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { currentPoll } from '../../../support/last-look.ts'

/**
 * A transaction that the reads of requests share whose clients had begun to send them before the same poll of the event loop. To
 * begin and end one takes twice as long as to read a record. No commit after its beginning can be the cause of such a request, so
 * that each may be answered with the state of that moment.
 */
export class SharedSnapshot {
  readonly #database: DatabaseSync
  readonly #isWriting: () => boolean
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #look: StatementSync
  /** Of the latest read: one that is alone takes less time without a transaction. */
  #latest: number | undefined
  /** Of the open transaction. */
  poll: number | undefined
  /** All reads share the open transaction, of whichever poll they are. */
  isHeld = false

  /** `isWriting`: whether writes of this process are queued. A request that has written finds what it has written. */
  constructor(database: DatabaseSync, isWriting: () => boolean) {
    this.#database = database
    this.#isWriting = isWriting
    this.#begin = database.prepare('begin')
    this.#commit = database.prepare('commit')
    this.#look = database.prepare('pragma data_version')
  }

  /** To be called before a read of another poll than that of the open transaction. Undefined: it is of this moment. */
  join(poll: number | undefined): void {
    this.end()
    const isShared = poll !== undefined && poll === this.#latest && poll === currentPoll()
    this.#latest = poll
    if (!isShared || this.#isWriting() || this.#database.isTransaction) return
    this.#begin.all()
    this.poll = poll
    // Before the commit of a write that is queued from now on.
    setImmediate(this.end)
  }

  readonly end = (): void => {
    if (this.poll === undefined) return
    this.poll = undefined
    this.#endTransaction()
  }

  /** Until `release`, reads have the state of this moment. */
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
