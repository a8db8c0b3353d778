import type { Position } from '../../protocol/change.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { MaybePromise } from '../../support/maybe-promise.ts'
import { Semaphore } from '../../support/semaphore.ts'
import type { ChangeSource } from '../change-feed.ts'

/** What is read at once of the log, or `reset`: it does not go back that far. */
export type LogBatch = Awaited<ReturnType<ChangeSource['read']>>

const changesPerRead = 500
/** So many reads bring a client that was at the end of the log there again, unless very much is written. */
export const readsNearEnd = 4

/**
 * Bounds how many clients read the change log at once: each read returns some megabytes. Those that are near its end wait for each
 * other alone, because each of the others may have thousands of reads ahead.
 */
export class LogReads {
  readonly #log: ChangeSource
  readonly #behind: Semaphore
  readonly #nearEnd: Semaphore

  /** `behind`: of the clients that are not near the end. As many others read at once. */
  constructor(log: ChangeSource, behind: Semaphore, most: number) {
    this.#log = log
    this.#behind = behind
    this.#nearEnd = new Semaphore(most)
  }

  head(): MaybePromise<Position> {
    return this.#log.head()
  }

  async read(after: Position, isWanted: (model: string) => boolean, isNearEnd: boolean): Promise<LogBatch> {
    using _ = await (isNearEnd ? this.#nearEnd : this.#behind).acquire()
    // A file is read without waiting, by thousands of clients one after another.
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    return await this.#log.read(after, changesPerRead, isWanted)
  }
}
