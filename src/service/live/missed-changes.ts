import type { Position, RecordId } from '../../protocol/change.ts'
import type { QueryPlan, QueryResult } from '../../realtime/queries/query-plan.ts'
import { differenceOf, type RowDifference } from '../../realtime/queries/row-difference.ts'
import type { ChangeLog } from '../../storage/change-log.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import { getOrInsertComputed } from '../../support/get-or-insert-computed.ts'
import type { Semaphore } from '../../support/semaphore.ts'
import { yieldToEventLoop } from '../../support/yield-to-event-loop.ts'

const changesPerRead = 500
/** After more changes the rows are sent instead. */
const maxChanges = 20_000

/**
 * Which records changed since a position that clients have resumed from. It is read once for all queries that resume
 * from the same position, and continued once for all that come before it is.
 */
export class MissedChanges {
  readonly #log: ChangeLog
  readonly #reads: Semaphore
  #position: Position
  readonly #changed = new Map<string, Set<RecordId>>()
  #count = 0
  #reading: Promise<boolean> = Promise.resolve(true)
  /** The read that has not begun, for all that ask until then. */
  #next: Promise<boolean> | undefined

  /** `reads` bounds how many clients read the log at once. */
  constructor(after: Position, log: ChangeLog, reads: Semaphore) {
    this.#position = after
    this.#log = log
    this.#reads = reads
  }

  /**
   * The difference between the rows that a client holds and those of a result: of rows that are in both, the values are
   * sent if they may have changed. 'reset': the log does not go back that far.
   */
  async differenceFrom(
    ids: readonly RecordId[],
    { rows }: QueryResult,
    { model, through }: QueryPlan,
  ): Promise<{ readonly difference: RowDifference | undefined } | 'reset'> {
    if (!(await this.#readNext())) return 'reset'
    // Many clients may have waited for it, each with a thousand rows.
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    const changed = this.#changed.get(model.name)
    // A related record may be embedded in any row.
    const isAnyChanged = [...through].some((name) => this.#changed.has(name))
    const isChanged = (_: number, later: number): boolean =>
      isAnyChanged || changed?.has(rows[later]?.id as RecordId) === true
    return {
      difference: differenceOf(
        ids.map((id) => ({ id })),
        rows,
        isChanged,
      ),
    }
  }

  /** After a read that has failed, the next one continues. */
  #readNext(): Promise<boolean> {
    this.#next ??= this.#reading = this.#reading
      .catch(() => true)
      .then((isKnown) => {
        this.#next = undefined
        return isKnown && this.#readOn()
      })
    return this.#next
  }

  /** False: the position is not in the log. */
  async #readOn(): Promise<boolean> {
    while (this.#count <= maxChanges) {
      const changes = await this.#readBatch()
      if (changes === 'reset') return false
      if (changes === 0) return true
      this.#count += changes
      await yieldToEventLoop()
    }
    return false
  }

  /** Keeps the keys alone: how many changes there were. */
  async #readBatch(): Promise<number | 'reset'> {
    using _ = await this.#reads.acquire()
    const batch = await this.#log.read(this.#position, changesPerRead)
    if (batch === 'reset') return batch
    this.#position = batch.position
    for (const { model, id } of batch.changes)
      getOrInsertComputed(this.#changed, model, () => new Set<RecordId>()).add(id as RecordId)
    return batch.changes.length
  }
}
