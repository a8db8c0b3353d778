import { andThen } from '../../../support/maybe-promise.ts'
import { logTable } from '../../capture.ts'
import type { Query } from '../../driver.ts'
import type { Connection } from '../client/connection.ts'
import { rowSize } from '../client/measured-rows.ts'

/** The inner pages are used each time that so much has changed, which is less than the writer keeps in memory, with its images. */
const changedBytes = 500_000

/** Back from the last row: the last three inner pages are of some hundred rows each where these are long, else of thousands. */
const distances = Array.from({ length: 17 }, (_, index) => Math.round(200 * 1.4 ** index))

const use = `select count(*) from json_each('[${distances}]') as back
  cross join sqlite_sequence as last on last.name = '${logTable}'
  cross join ${logTable} as log on log.seq = last.seq - back.value`

/**
 * Keeps inner pages of the log's tree in memory during a transaction. Whenever the last one is full, SQLite changes the two before it
 * as well. Those that were not used since they were filled are in the write-ahead log by then, for want of memory, and are
 * written there once more: the commit has to read and sum up again all that follows them.
 */
export class LogPages {
  readonly #writer: Connection

  constructor(writer: Connection) {
    this.#writer = writer
  }

  /** The same, for the statements of one transaction. */
  keepDuring(query: Query): Query {
    let bytes = 0
    return (text, values, options) =>
      andThen(query(text, values, options), (rows) => {
        if (text.startsWith('select')) return rows
        for (const row of rows) bytes += rowSize(row)
        if (bytes > changedBytes) {
          bytes = 0
          this.#writer.all(use, [])
        }
        return rows
      })
  }
}
