import { Lru } from '../../../support/lru.ts'
import type { CostClass, Row, Scan, Statement } from '../../driver.ts'
import type { Connection } from './connection.ts'

const keptPlans = 1000
/** A plan is asked for again after this time: tables grow, and indexes come and go. */
const planMs = 60_000
/** A scan of a table with at most this many rows takes less time than a reader process needs to answer, unless they are long. */
const smallTableRows = 1000
/** A text search of one row with a long text takes a millisecond, and a statement cannot be stopped within a row. */
const maxSearches = 8

/** One slow run proves nothing on a busy machine: the next one is measured in processor time. */
export interface SlowRuns {
  lastWasSlow: boolean
  /** The time until which the statements are scans. */
  scanUntil: number
}

export interface Plan {
  readonly costClass: CostClass
  readonly until: number
  /** The slow runs of the statement, or of all statements that read every row of the same small tables: their rows may be long. */
  readonly slowRuns: SlowRuns
  readonly isShared: boolean
}

/** The cost class of each statement, from EXPLAIN QUERY PLAN and from what its runs have taken. */
export class QueryPlans {
  readonly #connection: Connection
  readonly #onScan: (scan: Scan) => void
  readonly #plans = new Lru<string, Plan>(keptPlans)
  /** By the names of the tables. */
  readonly #ofTables = new Lru<string, SlowRuns>(keptPlans)

  constructor(connection: Connection, onScan: (scan: Scan) => void) {
    this.#connection = connection
    this.#onScan = onScan
  }

  of(statement: Statement): Plan {
    const known = this.#plans.get(statement.text)
    const now = performance.now()
    const plan = known && known.until > now ? known : this.#explain(statement, known)
    return plan.slowRuns.scanUntil > now ? { ...plan, costClass: 'scan' } : plan
  }

  /** `known`: the plan of some time ago. */
  #explain({ text, access, shape }: Statement, known: Plan | undefined): Plan {
    const tables = scannedTables(this.#connection.all(`explain query plan ${text}`, []), access === 'page')
    const large = tables.filter((table) => !this.#isSmall(table))
    if (large.length > 0 && known?.costClass !== 'scan') this.#onScan({ text, shape, tables: large })
    const isShared = tables.length > 0
    const slowRuns = isShared ? this.#slowRunsOf(tables) : known && !known.isShared ? known.slowRuns : newSlowRuns()
    const isScan = large.length > 0 || searchesIn(text) > maxSearches
    const plan: Plan = {
      costClass: isScan ? 'scan' : 'indexed',
      until: performance.now() + planMs,
      slowRuns,
      isShared,
    }
    this.#plans.set(text, plan)
    return plan
  }

  /** The statement has taken longer than its plan promised. */
  demote({ text, shape }: Statement, { slowRuns }: Plan): void {
    slowRuns.lastWasSlow = false
    slowRuns.scanUntil = performance.now() + planMs
    this.#onScan({ text, shape, tables: [] })
  }

  #slowRunsOf(tables: readonly string[]): SlowRuns {
    const key = tables.join()
    const known = this.#ofTables.get(key)
    if (known) return known
    const slowRuns = newSlowRuns()
    this.#ofTables.set(key, slowRuns)
    return slowRuns
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

const newSlowRuns = (): SlowRuns => ({ lastWasSlow: false, scanUntil: 0 })

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
