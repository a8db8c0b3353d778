import { andThen } from '../../../support/maybe-promise.ts'
import { logTable } from '../../capture.ts'
import type { Query } from '../../driver.ts'
import type { Connection } from '../client/connection.ts'
import { rowSize } from '../client/measured-rows.ts'

/**
 * The inner pages are read again after this many changed bytes: together with their images, fewer than the page cache of the
 * writer holds.
 */
const changedBytes = 500_000

/**
 * Distances from the last row, chosen to hit the last three inner pages, whether they refer to hundreds of long rows or to
 * thousands of short ones.
 */
const distances = Array.from({ length: 17 }, (_, index) => Math.round(200 * 1.4 ** index))

const use = `select count(*) from json_each('[${distances}]') as back
  cross join sqlite_sequence as last on last.name = '${logTable}'
  cross join ${logTable} as log on log.seq = last.seq - back.value`

/**
 * Keeps the last inner pages of the log's B-tree in the page cache during a transaction, by reading them. Whenever the last inner
 * page is full, SQLite changes the two before it. If these were evicted from the cache, they are in the WAL already and are
 * written there once more: the commit then has to read, and compute the checksums of, everything after them again.
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
