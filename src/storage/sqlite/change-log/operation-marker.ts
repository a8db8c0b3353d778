import { eventLoopTurn } from '../../../support/event-loop-turn.ts'
import type { MaybePromise } from '../../../support/maybe-promise.ts'
import { logTable } from '../../capture.ts'
import type { WriteOrigin } from '../../write-origin.ts'
import type { Connection } from '../client/connection.ts'
import { sliceEnd } from './log-slice.ts'

/** As many log rows are marked in one statement, however large they are: marking a row writes its images again. */
const fewRows = 8

/**
 * Gives the log rows of one operation a common number and the origin, which triggers do not know. A single row without an
 * origin needs neither, so the ordinary write costs nothing. The number of an operation is that of its first log row, also
 * where no row had to be marked.
 */
export class OperationMarker {
  readonly #writer: Connection

  constructor(writer: Connection) {
    this.#writer = writer
  }

  /** The number of the last log row. */
  last(): number {
    const [row] = this.#writer.all(`select seq from sqlite_sequence where name = '${logTable}'`, [])
    return Number(row?.[0] ?? 0)
  }

  /** The next operation begins after this row. */
  begin(before: number, origin: WriteOrigin | undefined): void {
    if (typeof origin === 'object') origin.coming = () => (this.last() > before ? String(before + 1) : undefined)
  }

  /** Marks the rows after `before`, and returns the number of the last one. Many rows are marked in slices. */
  end(before: number, origin: WriteOrigin | undefined): MaybePromise<number> {
    const after = this.last()
    const grown = after - before
    const isReceipt = typeof origin === 'object'
    if (isReceipt) {
      origin.operation = grown === 0 ? undefined : String(before + 1)
      origin.coming = undefined
    }
    const text = isReceipt ? origin.origin : origin
    if (grown > 1 || (grown === 1 && text !== undefined)) {
      const mark = `update ${logTable} set operation = ?, origin = ? where seq > ? and seq <= ?`
      const slice = (from: number, to: number): unknown => this.#writer.all(mark, [before + 1, text ?? null, from, to])
      if (grown > fewRows) return this.#markInSlices(before, after, slice)
      slice(before, after)
    }
    return after
  }

  #markInSlices(from: number, after: number, slice: (from: number, to: number) => unknown): MaybePromise<number> {
    for (let next = from; next < after; ) {
      if (eventLoopTurn.isUsed) return eventLoopTurn.next().then(() => this.#markInSlices(next, after, slice))
      const [end] = this.#writer.all(sliceEnd, [next, after])
      const to = Number(end?.[0] ?? after)
      slice(next, to)
      next = to
    }
    return after
  }
}
