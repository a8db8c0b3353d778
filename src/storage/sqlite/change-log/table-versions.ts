import { logTable } from '../../capture.ts'
import type { RecordTexts } from '../../record-texts.ts'
import type { PageKeys, RecordKey, TableVersions } from '../../table-versions.ts'
import type { Connection } from '../client/connection.ts'
import { RecordVersions } from './record-versions.ts'

const none: readonly never[] = []
/** More new rows than this are not looked through: all tables count as changed. */
const maxRows = 256

/**
 * A counter for each table and each record, moved by the rows of the log. SQLite tells a connection by its `data_version`
 * whether any other has committed, in this process or in another, so the log is read only then. A commit that the rows of
 * the log do not explain, such as a change of the schema, moves all counters.
 */
export class SqliteTableVersions implements TableVersions {
  readonly isCurrent = true
  readonly #reading: Connection
  readonly #isCaptured: () => boolean
  readonly #texts: RecordTexts | undefined
  readonly #counters = new Map<string, number>()
  readonly #records: RecordVersions
  /** Incremented for a change that may concern any table. */
  #common = 0
  #seen: unknown
  #schema: unknown
  /** Whether the log contains all changes of all tables. */
  #isComplete = false
  #last: { readonly seq: unknown; readonly at: unknown } | undefined

  /** `reading` writes nothing itself. `isCaptured`: whether all changes of all tables are written to the log. */
  constructor(reading: Connection, isCaptured: () => boolean, texts?: RecordTexts) {
    this.#reading = reading
    this.#isCaptured = isCaptured
    this.#texts = texts
    this.#records = new RecordVersions(texts)
  }

  of(tables: readonly string[], record?: RecordKey, isSeen = false): string | undefined {
    try {
      const isKnown = isSeen && this.#seen !== undefined && this.#isComplete
      // An open snapshot would see neither later commits nor later rows. A closed database says so by an error.
      if (!isKnown && (this.#reading.inTransaction || !this.#isCurrent())) return undefined
    } catch {
      this.#seen = undefined
      return undefined
    }
    let text = String(this.#common)
    for (const table of tables) text += `.${this.#counters.get(table) ?? 0}`
    if (record) text += `.${this.#records.of(record) ?? `all ${this.#counters.get(record.table) ?? 0}`}`
    return text
  }

  ofPage(page: PageKeys): string | undefined {
    return this.#records.ofPage(page)
  }

  /** Runs `work` in the state up to which all changes are counted. Undefined: that cannot be done now. */
  within<T>(work: (reading: Connection) => T): T | undefined {
    const reading = this.#reading
    if (reading.inTransaction) return undefined
    return reading.inOneState(() => (this.#isCurrent() ? work(reading) : undefined))
  }

  /** Whether changes of single records of the table are known by this key. */
  knowsRecords(table: string, keyColumn: string): boolean {
    if (this.#schema === undefined) this.of(none)
    return this.#records.knows(table, keyColumn)
  }

  /** Counts what was committed. False: the log does not contain all changes. */
  #isCurrent(): boolean {
    const version = this.#reading.read('pragma data_version', none)[0]?.[0]
    if (version === this.#seen) return this.#isComplete
    this.#seen = undefined
    this.#refresh(version)
    return this.#isComplete
  }

  /** The version is known before the log is read: what is committed in between is counted twice, and never missed. */
  #refresh(version: unknown): void {
    if (this.#texts) this.#texts.state++
    const schema = this.#one('pragma schema_version')
    if (schema !== this.#schema) {
      this.#isComplete = this.#isCaptured()
      this.#records.readSchema(this.#reading)
      this.#schema = schema
      this.#last = undefined
    }
    if (!this.#countNewRows()) {
      this.#common++
      this.#records.countAll()
    }
    this.#seen = version
  }

  /** Counts the new rows of the log. False if they do not explain what was committed. */
  #countNewRows(): boolean {
    const last = this.#last
    if (last !== undefined && this.#one(`select at from ${logTable} where seq = ?`, last.seq) === last.at) {
      const text = `select seq, at, model, ${this.#records.columns} from ${logTable} where seq > ? order by seq limit ${maxRows + 1}`
      const rows = this.#reading.read(text, [last.seq])
      const [end] = rows.slice(-1)
      // The numbers of the log have no gaps: what is missing was deleted.
      if (end && rows.length <= maxRows && Number(end[0]) - Number(last.seq) === rows.length) {
        for (const [, , table, ...change] of rows) {
          this.#counters.set(table as string, (this.#counters.get(table as string) ?? 0) + 1)
          this.#records.count(table as string, ...(change as [unknown, unknown, unknown, unknown]))
        }
        this.#last = { seq: end[0], at: end[1] }
        return true
      }
    }
    const [head] = this.#reading.read(`select seq, at from ${logTable} order by seq desc limit 1`, [])
    this.#last = head && { seq: head[0], at: head[1] }
    return false
  }

  #one(text: string, ...values: readonly unknown[]): unknown {
    return this.#reading.read(text, values)[0]?.[0]
  }
}
