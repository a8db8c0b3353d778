import type { StatementSync } from 'node:sqlite'
import { logTable } from '../../capture.ts'
import type { Row } from '../../driver.ts'
import type { WriteOrigin } from '../../write-origin.ts'
import type { Connection } from '../client/connection.ts'

/** An operation of several log rows, or with an origin: marking the rows themselves would write their images again. */
export const operationTable = 'keelson_operation'

/**
 * Gives the log rows of one operation a common number and the origin, which triggers do not know. A single row without an
 * origin needs neither, so the ordinary write costs nothing. The number of an operation is that of its first log row, also
 * where no row had to be marked.
 */
export class OperationMarker {
  readonly #writer: Connection
  readonly #last: StatementSync

  constructor(writer: Connection) {
    this.#writer = writer
    this.#last = writer.prepare(`select seq from sqlite_sequence where name = '${logTable}' limit 1`)
  }

  /** The number of the last log row. */
  last(): number {
    const [row] = this.#last.all() as unknown as readonly Row[]
    return Number(row?.[0] ?? 0)
  }

  /** The next operation begins after this row. */
  begin(before: number, origin: WriteOrigin | undefined): void {
    if (typeof origin === 'object') origin.coming = () => (this.last() > before ? String(before + 1) : undefined)
  }

  /** Marks the rows after `before`, and returns the number of the last one. */
  end(before: number, origin: WriteOrigin | undefined): number {
    const after = this.last()
    const grown = after - before
    const isReceipt = typeof origin === 'object'
    if (isReceipt) {
      origin.operation = grown === 0 ? undefined : String(before + 1)
      origin.coming = undefined
    }
    const text = isReceipt ? origin.origin : origin
    if (grown > 1 || (grown === 1 && text !== undefined))
      this.#writer.all(`insert or replace into ${operationTable} values (?, ?, ?)`, [before + 1, after, text ?? null])
    return after
  }
}
