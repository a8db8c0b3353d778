import type { Position } from '../../protocol/change.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { MaybePromise } from '../../support/maybe-promise.ts'
import { Semaphore } from '../../support/semaphore.ts'
import type { ChangeSource } from '../change-feed.ts'

/** What is read at once of the log, or `reset`: it does not go back that far. */
export type LogBatch = Awaited<ReturnType<ChangeSource['read']>>

interface OrderedSource extends ChangeSource {
  /** Whether everything before `target` was seen at `position`. Undefined if `target` is not a position of this log. */
  reaches(position: Position, target: Position): boolean | undefined
}

const changesPerRead = 500
/** So many reads bring a client that was at the end of the log there again, unless very much is written. */
export const readsNearEnd = 4

/** While the log is read, the position of its end is kept at this interval. */
const markEveryMs = 15_000
const keptMarks = 4

interface Mark {
  readonly position: Position
  readonly at: number
}

/**
 * Bounds how many clients read the change log at once: each read returns some megabytes. Those that are near its end wait for each
 * other alone, because each of the others may have thousands of reads ahead.
 */
export class LogReads {
  readonly #log: OrderedSource
  readonly #behind: Semaphore
  readonly #nearEnd: Semaphore
  readonly #now: () => number
  /** The oldest first. */
  #marks: readonly Mark[] = []
  #markedAt = Number.NEGATIVE_INFINITY

  /** `behind`: of the clients that are not near the end. As many others read at once. */
  constructor(log: OrderedSource, behind: Semaphore, most: number, now = () => performance.now()) {
    this.#log = log
    this.#behind = behind
    this.#nearEnd = new Semaphore(most)
    this.#now = now
  }

  head(): MaybePromise<Position> {
    return this.#log.head()
  }

  /** Whether the position was the end of the log about a minute ago, or later. */
  isRecent(position: Position): boolean {
    const since = this.#now() - keptMarks * markEveryMs
    const mark = this.#marks.find(({ at }) => at >= since)
    return mark !== undefined && this.#log.reaches(position, mark.position) === true
  }

  async #mark(): Promise<void> {
    const at = this.#now()
    if (at - this.#markedAt < markEveryMs) return
    this.#markedAt = at
    const position = await this.#log.head()
    this.#marks = [...this.#marks, { position, at }].slice(-keptMarks)
  }

  async read(after: Position, isWanted: (model: string) => boolean, isNearEnd: boolean): Promise<LogBatch> {
    this.#mark().catch(() => {}) // the read reports a log that cannot be read
    using _ = await (isNearEnd ? this.#nearEnd : this.#behind).acquire()
    // A file is read without waiting, by thousands of clients one after another.
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    return await this.#log.read(after, changesPerRead, isWanted)
  }
}
