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

/** Statements whose last run was slow, which proves nothing on a busy machine: the next one is measured in processor time. */
export interface Suspect {
  isSuspected: boolean
  /** Until then they are scans. */
  slowUntil: number
}

export interface Plan {
  readonly costClass: CostClass
  readonly until: number
  /** The statement; or all that read all rows of the same small tables, whose rows may be long. */
  readonly suspect: Suspect
  readonly isOfTables: boolean
}

/** The cost class of each statement, from EXPLAIN QUERY PLAN and from what its runs have taken. */
export class QueryPlans {
  readonly #connection: Connection
  readonly #onScan: (scan: Scan) => void
  readonly #plans = new Lru<string, Plan>(keptPlans)
  readonly #tables = new Lru<string, Suspect>(keptPlans)

  constructor(connection: Connection, onScan: (scan: Scan) => void) {
    this.#connection = connection
    this.#onScan = onScan
  }

  of({ text, access, shape }: Statement): Plan {
    const known = this.#plans.get(text)
    const now = performance.now()
    if (known && known.until > now) return known.suspect.slowUntil > now ? { ...known, costClass: 'scan' } : known
    const tables = scannedTables(this.#connection.all(`explain query plan ${text}`, []), access === 'page')
    const large = tables.filter((table) => !this.#isSmall(table))
    if (large.length > 0 && known?.costClass !== 'scan') this.#onScan({ text, shape, tables: large })
    const isOfTables = tables.length > 0
    const suspect = isOfTables ? this.#suspectOf(tables) : known && !known.isOfTables ? known.suspect : newSuspect()
    const isScan = large.length > 0 || searchesIn(text) > maxSearches
    const plan: Plan = { costClass: isScan ? 'scan' : 'indexed', until: now + planMs, suspect, isOfTables }
    this.#plans.set(text, plan)
    return suspect.slowUntil > now ? { ...plan, costClass: 'scan' } : plan
  }

  /** The statement has taken longer than its plan promised. */
  demote({ text, shape }: Statement, { suspect }: Plan): void {
    suspect.isSuspected = false
    suspect.slowUntil = performance.now() + planMs
    this.#onScan({ text, shape, tables: [] })
  }

  #suspectOf(tables: readonly string[]): Suspect {
    const key = tables.join()
    const known = this.#tables.get(key)
    if (known) return known
    const suspect = newSuspect()
    this.#tables.set(key, suspect)
    return suspect
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

const newSuspect = (): Suspect => ({ isSuspected: false, slowUntil: 0 })

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
