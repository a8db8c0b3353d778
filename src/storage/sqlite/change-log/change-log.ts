import type { Model, Models } from '../../../model/model.ts'
import type { Change, Position, Verb } from '../../../protocol/change.ts'
import { eventLoopTurn } from '../../../support/event-loop-turn.ts'
import { andThen, type MaybePromise } from '../../../support/maybe-promise.ts'
import { captureTable, logTable, metaTable } from '../../capture.ts'
import type { ChangeBatch, IsWanted, Keep, SqlChangeLog } from '../../change-log.ts'
import type { ChangeNotifier } from '../../change-notifier.ts'
import type { Driver, Query, Row } from '../../driver.ts'
import { changeOrigin } from '../../write-origin.ts'
import { TableSize } from '../table-slices.ts'
import { type Image, keyIn, parseImage, recordIn } from './image.ts'
import { bytesOf, growingLog, imageBytes } from './log-slice.ts'
import { operationTable } from './operation-marker.ts'
import { floorQuery, trim } from './trim.ts'

/** The tables of the log. `autoincrement`: a number is never reused, even when all rows are deleted. */
export const logSchema = [
  `create table if not exists ${logTable} (
    seq integer primary key autoincrement,
    model text not null,
    verb text not null,
    id text not null,
    before text,
    after text,
    at integer not null default (cast(round((julianday('now') - 2440587.5) * 86400000) as integer))
  )`,
  `create table if not exists ${operationTable} (first integer primary key, last integer not null, origin text)`,
  `create table if not exists ${metaTable} (name text primary key, value text not null) without rowid`,
  // `model` is for manual inspection; several models may share one table.
  `create table if not exists ${captureTable} ("table" text primary key, model text not null, columns text not null, version text not null) without rowid`,
  // The names in `logNotes`.
  `insert or ignore into ${metaTable} values ('nonce', lower(hex(randomblob(8)))), ('floor', '0:0'), ('secret', lower(hex(randomblob(32))))`,
]

/** Metadata that every log has. */
export const logNotes = ['nonce', 'floor', 'secret']

/** What is read in one turn of the event loop: an operation may have thousands of rows, and each of them some megabytes. */
const rowsPerTurn = 500
const readBytes = 1_000_000

interface DecodedPosition {
  readonly seq: number
  /** When that row was written: the number alone would also match the log of a restored backup. */
  readonly at: number
}

/** A column of the operation of a row; null for an operation of one row. The rows of an operation are consecutive. */
const ofOperation = (column: string): string =>
  `(select case when last >= seq then ${column} end from ${operationTable} where first <= seq order by first desc limit 1)`
const columns = `seq, ${ofOperation('first')}, model, verb, before, after, at, ${ofOperation('origin')}`
const width = 8

/** SQLite has one writer, so the row number is the commit order. */
export class SqliteChangeLog implements SqlChangeLog {
  readonly #driver: Driver
  /** By table name, as in the log. */
  readonly #models: ReadonlyMap<string, readonly Model[]>
  readonly #nonce: string
  readonly #notifier: ChangeNotifier
  readonly #size = new TableSize((text, values) => this.#read(text, values), growingLog)
  readonly #watchFile: ((check: () => void) => Disposable) | undefined
  #watch: Disposable | undefined
  #version: unknown
  readonly limitation = undefined
  readonly uncaptured: (() => readonly string[]) | undefined

  constructor(parts: {
    driver: Driver
    models: Models
    nonce: string
    notifier: ChangeNotifier
    /** Calls `check` when another program may have written; undefined where no other program can. */
    watchFile?: ((check: () => void) => Disposable) | undefined
    uncaptured?: (() => readonly string[]) | undefined
  }) {
    this.#driver = parts.driver
    this.#models = Map.groupBy(parts.models.values(), (model) => model.table)
    this.#nonce = parts.nonce
    this.#notifier = parts.notifier
    this.#watchFile = parts.watchFile
    this.uncaptured = parts.uncaptured
  }

  head(): MaybePromise<Position> {
    return this.headIn(this.#driver.query)
  }

  headIn(query: Query): MaybePromise<Position> {
    return andThen(query(`select seq, at from ${logTable} order by seq desc limit 1`, []), ([row]) =>
      row
        ? this.#position({ seq: Number(row[0]), at: Number(row[1]) })
        : andThen(query(floorQuery, []), ([floor]) => this.#position(floorOf(floor))),
    )
  }

  includes(position: Position, change: Change): boolean {
    return (this.#parse(change.position)?.seq ?? 0) <= (this.#parse(position)?.seq ?? 0)
  }

  reaches(position: Position, target: Position): boolean | undefined {
    const place = this.#parse(target)
    return place && (this.#parse(position)?.seq ?? 0) >= place.seq
  }

  async tail(): Promise<Position> {
    return this.#position(await this.#floor())
  }

  async read(after: Position, limit: number, isWanted?: IsWanted): Promise<ChangeBatch | 'reset'> {
    const place = this.#parse(after)
    const found = place && (await this.#rowsAfter(place, limit))
    if (!found) return 'reset'
    const { rows, isEnd } = found
    const last = rows.at(-1)
    if (!last) return { changes: [], position: after }
    if (!isEnd && last[1] !== null) {
      const isWhole = await this.#readOperation(last, rows)
      if (!isWhole) return 'reset'
    }
    const ends = endsOf(rows)
    const changes: Change[] = []
    let bytes = 0
    for (const [index, row] of rows.entries()) {
      const found = this.#changes(row, ends[index] as Row, isWanted)
      if (found.length > 0) bytes += bytesOf(row[4], row[5])
      for (const change of found) changes.push(change)
      if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    }
    const position = this.#position(positionOfRow(rows.at(-1) as Row))
    // An empty batch means the end of the log, so a batch without wanted changes is skipped.
    if (changes.length > 0 || isEnd) return { changes, position, bytes }
    await eventLoopTurn.next() // synchronous reads alone would block the event loop
    return this.read(position, limit, isWanted)
  }

  /** Appends the remaining rows of the operation of `row`; false: some of them were trimmed. */
  async #readOperation([, operation]: Row, rows: Row[]): Promise<boolean> {
    const isInOperation = `and seq <= (select last from ${operationTable} where first = ?)`
    for (;;) {
      if (eventLoopTurn.isUsed) await eventLoopTurn.next()
      const from = positionOfRow(rows.at(-1) as Row)
      const more = await this.#rowsAfter(from, rowsPerTurn, isInOperation, operation)
      if (!more) return false
      for (const row of more.rows) rows.push(row)
      if (more.rows.length === 0) return true
    }
  }

  /**
   * Undefined when the row at the position is not the one that was read there, or later rows were trimmed. One statement
   * checks and reads: a trim could run between two. The limit is a literal as in any page (`dialect.ts`).
   */
  async #rowsAfter(
    place: DecodedPosition,
    limit: number,
    condition = '',
    ...values: readonly unknown[]
  ): Promise<{ readonly rows: Row[]; readonly isEnd: boolean } | undefined> {
    const after = `from ${logTable} where seq > ? ${condition}`
    const sizes = `select seq, ${imageBytes} as size ${after} order by seq limit ${Math.trunc(limit)}`
    const found = await this.#read(
      `select l.*, m.value, (select at from ${logTable} where seq = ?), (select max(seq) from ${logTable}) from ${metaTable} m
       left join (select ${columns} ${after} and seq <= (
         select coalesce(max(seq) filter (where bytes <= ${readBytes}), min(seq))
         from (select seq, sum(size) over (order by seq) as bytes from (${sizes}))
       ) order by seq) l on true where m.name = 'floor'`,
      [place.seq, place.seq, ...values, place.seq, ...values],
    )
    const [floor, at, newest] = (found[0] as Row).slice(width)
    const { seq, at: seenAt } = at === null ? floorOf([floor]) : { seq: place.seq, at: Number(at) }
    if (seq !== place.seq || seenAt !== place.at) return undefined
    const rows = found.filter(([seq]) => seq !== null)
    return { rows, isEnd: rows.length === 0 || rows.at(-1)?.[0] === newest }
  }

  onChange(listener: () => void): Disposable {
    const registration = this.#notifier.add(listener)
    if (!this.#watch && this.#watchFile) {
      void this.#check() // later writes are compared with this version
      this.#watch = this.#watchFile(() => this.#check())
    }
    return {
      [Symbol.dispose]: () => {
        registration[Symbol.dispose]()
        if (!this.#notifier.hasListeners) this.close()
      },
    }
  }

  async isKept(position: Position): Promise<boolean> {
    const place = this.#parse(position)
    return place !== undefined && (await this.#rowsAfter(place, 1)) !== undefined
  }

  async trim(keep: Keep): Promise<void> {
    const { seq } = await this.#floor()
    const seqOf = (position: Position) => this.#parse(position)?.seq
    await trim(this.#driver, keep, { floor: seq, size: this.#size, seqOf })
  }

  size(): Promise<number> {
    return this.#size.bytes()
  }

  close(): void {
    this.#watch?.[Symbol.dispose]()
    this.#watch = undefined
  }

  async #check(): Promise<void> {
    try {
      const version = (await this.#read('pragma data_version'))[0]?.[0]
      if (this.#version !== undefined && version !== this.#version) this.#notifier.call()
      this.#version = version
    } catch {
      this.close() // the database was closed
    }
  }

  /** The last row that was trimmed. */
  async #floor(): Promise<DecodedPosition> {
    return floorOf((await this.#read(floorQuery))[0])
  }

  #read(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return Promise.resolve(this.#driver.query(text, values))
  }

  #position({ seq, at }: DecodedPosition): Position {
    return `${this.#nonce}.${seq.toString(36)}.${at.toString(36)}`
  }

  #parse(position: Position): DecodedPosition | undefined {
    const [nonce, seq = '', at = ''] = position.split('.', 3)
    const place = { seq: Number.parseInt(seq, 36), at: Number.parseInt(at, 36) }
    return nonce === this.#nonce && Number.isSafeInteger(place.seq) && Number.isSafeInteger(place.at)
      ? place
      : undefined
  }

  /** All changes of one operation share the position after its last row, `end`: reads never resume inside an operation. */
  #changes(
    [seq, operation, table, verb, before, after, at, origin]: Row,
    end: Row,
    isWanted: IsWanted = () => true,
  ): readonly Change[] {
    // None for a table of another process's models; several where models share a table.
    const models = this.#models.get(table as string)?.filter(({ name }) => isWanted(name)) ?? []
    if (models.length === 0) return []
    const was = before === null ? undefined : parseImage(before as string)
    const is = after === null ? undefined : parseImage(after as string)
    const common = {
      position: this.#position(positionOfRow(end)),
      operation: String(operation ?? seq),
      at: new Date(Number(at)).toISOString(),
      ...changeOrigin(origin as string | null),
    }
    return models.flatMap((model) => {
      const change = (verb: Verb, was: Image | undefined, is: Image | undefined): Change => ({
        ...common,
        model: model.name,
        verb,
        id: keyIn((is ?? was) as Image, model),
        ...(was && { before: recordIn(was, model) }),
        ...(is && { after: recordIn(is, model) }),
      })
      const isRekeyed = was && is && JSON.stringify(keyIn(was, model)) !== JSON.stringify(keyIn(is, model))
      if (!isRekeyed) return change(verb as Verb, was, is)
      return [change('destroyed', was, undefined), change('created', undefined, is)]
    })
  }
}

/** For each row, the last row of its operation. */
function endsOf(rows: readonly Row[]): readonly Row[] {
  const ends: Row[] = []
  for (let index = rows.length - 1; index >= 0; index--) {
    const [[, operation], later] = [rows[index] as Row, rows[index + 1]]
    const goesOn = operation !== null && later?.[1] === operation
    ends[index] = goesOn ? (ends[index + 1] as Row) : (rows[index] as Row)
  }
  return ends
}

const positionOfRow = (row: Row): DecodedPosition => ({ seq: Number(row[0]), at: Number(row[6]) })

function floorOf(row: Row | undefined): DecodedPosition {
  const [seq = 0, at = 0] = String(row?.[0] ?? '0:0')
    .split(':')
    .map(Number)
  return { seq, at }
}
