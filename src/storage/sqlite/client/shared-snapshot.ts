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
  /** Of the latest read: one that is alone takes less time without a transaction. */
  #latest: number | undefined
  /** Of the open transaction. */
  poll: number | undefined

  /** `isWriting`: whether writes of this process are queued. A request that has written finds what it has written. */
  constructor(database: DatabaseSync, isWriting: () => boolean) {
    this.#database = database
    this.#isWriting = isWriting
    this.#begin = database.prepare('begin')
    this.#commit = database.prepare('commit')
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
    // An error of the file ends a transaction as well.
    if (this.#database.isTransaction) this.#commit.all()
  }
}
