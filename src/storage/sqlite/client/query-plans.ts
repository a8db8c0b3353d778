import { Lru } from '../../../support/lru.ts'
import type { CostClass, Row, Scan, Statement } from '../../driver.ts'
import type { Connection } from './connection.ts'

const keptPlans = 1000
/** A plan is asked for again after this time: tables grow, and indexes come and go. */
const planMs = 60_000
/** A scan of a table with at most this many rows is bounded: it takes less time than a reader process needs to answer. */
const smallTableRows = 1000
/** A text search of one row with a long text takes a millisecond, and a statement cannot be stopped within a row. */
const maxSearches = 8

interface Plan {
  readonly costClass: CostClass
  readonly until: number
}

/** The cost class of each statement, from EXPLAIN QUERY PLAN and from what its runs have taken. */
export class QueryPlans {
  readonly #connection: Connection
  readonly #onScan: (scan: Scan) => void
  readonly #plans = new Lru<string, Plan>(keptPlans)

  constructor(connection: Connection, onScan: (scan: Scan) => void) {
    this.#connection = connection
    this.#onScan = onScan
  }

  classOf({ text, access, shape }: Statement): CostClass {
    const known = this.#plans.get(text)
    if (known && known.until > performance.now()) return known.costClass
    const tables = scannedTables(this.#connection.all(`explain query plan ${text}`, []), access === 'page')
    const large = tables.filter((table) => !this.#isSmall(table))
    if (large.length > 0 && known?.costClass !== 'scan') this.#onScan({ text, shape, tables: large })
    return this.#keep(text, large.length > 0 || searchesIn(text) > maxSearches ? 'scan' : 'indexed')
  }

  /** The statement has taken longer than its plan promised. */
  demote({ text, shape }: Statement): void {
    this.#keep(text, 'scan')
    this.#onScan({ text, shape, tables: [] })
  }

  #keep(text: string, costClass: CostClass): CostClass {
    this.#plans.set(text, { costClass, until: performance.now() + planMs })
    return costClass
  }

  #isSmall(table: string): boolean {
    try {
      const name = `"${table.replaceAll('"', '""')}"`
      const [row] = this.#connection.all(`select count(*) from (select 1 from ${name} limit ${smallTableRows + 1})`, [])
      return Number(row?.[0]) <= smallTableRows
    } catch {
      return false // an alias
    }
  }
}

/** The number of `contains` in a statement. Values are bound, so the text of a client is not counted. */
const searchesIn = (text: string): number => text.split('instr(').length - 1

const scan = /^SCAN (.+?)(?: USING (?:COVERING )?INDEX .*)?$/
const isNotATable = /^SCAN (?:CONSTANT ROW|\(|keelson_)| VIRTUAL TABLE /

/**
 * A sort of rows that do not come in an order of which an index has all but the end, the key: such rows are sorted for each
 * value of the index, and the page stops at its limit.
 */
const sort = /^USE TEMP B-TREE FOR (?!LAST TERM OF ORDER BY)/

/**
 * The tables whose rows are all read. A page without a condition scans its table in the order of an index and stops at
 * its limit; only a sort makes it read all rows.
 */
export function scannedTables(plan: readonly Row[], isPage: boolean): readonly string[] {
  const details = plan.map((row) => String(row[3]))
  if (isPage && !details.some((detail) => sort.test(detail))) return []
  return details.flatMap((detail) => {
    // An index that is made for one statement reads the whole table.
    const automatic = /^SEARCH (\S+) USING AUTOMATIC/.exec(detail)
    if (automatic) return automatic[1] as string
    if (isNotATable.test(detail)) return []
    return scan.exec(detail)?.[1] ?? []
  })
}
