import type { Model, Models } from '../../model/model.ts'
import type { Change, Position, Verb } from '../../protocol/change.ts'
import { chain, type Maybe } from '../../support/maybe.ts'
import { nextTurn } from '../../support/next-turn.ts'
import { captureTable, logTable, metaTable } from '../capture.ts'
import type { ChangeBatch, IsWanted, SqlChangeLog } from '../change-log.ts'
import type { Driver, Query, Row } from '../driver.ts'
import type { Wake } from '../wake.ts'
import { type Image, keyIn, parseImage, recordIn } from './image.ts'

/** The tables of the log itself. A number is never used twice, even when all rows are gone. */
export const logSchema = [
  `create table if not exists ${logTable} (
    seq integer primary key autoincrement,
    operation integer,
    model text not null,
    verb text not null,
    id text not null,
    before text,
    after text,
    at integer not null default (cast(round((julianday('now') - 2440587.5) * 86400000) as integer)),
    origin text
  )`,
  `create table if not exists ${metaTable} (name text primary key, value text not null) without rowid`,
  // The model is for people; several may be kept in one table.
  `create table if not exists ${captureTable} ("table" text primary key, model text not null, columns text not null, version text not null) without rowid`,
  // What `logNotes` names.
  `insert or ignore into ${metaTable} values ('nonce', lower(hex(randomblob(8)))), ('floor', '0:0'), ('secret', lower(hex(randomblob(32))))`,
]

/** What a log has noted from its beginning. */
export const logNotes = ['nonce', 'floor', 'secret']

/** The writer is not held for longer than deleting this many takes. */
const trimmedAtOnce = 2000

interface Place {
  readonly seq: number
  /** When that row was written: a number alone would also fit the log of a restored backup. */
  readonly at: number
}

const columns = 'seq, operation, model, verb, before, after, at, origin'
const width = 8
/** Where another operation begins: the rows of one stand together. */
const nextOperation = `ifnull((select seq from ${logTable} where seq > ? and operation is not ? order by seq limit 1), 9e18)`

/** One writer, so the number of a row is its place: SQLite commits them in this order. */
export class SqliteChangeLog implements SqlChangeLog {
  readonly #driver: Driver
  /** By table, as the log has them. */
  readonly #models: ReadonlyMap<string, readonly Model[]>
  readonly #nonce: string
  readonly #wake: Wake
  readonly #watchFile: ((look: () => void) => Disposable) | undefined
  #watch: Disposable | undefined
  #version: unknown
  readonly caveat = undefined

  constructor(parts: {
    driver: Driver
    models: Models
    nonce: string
    wake: Wake
    /** Calls when another program may have written; undefined where none can. */
    watchFile?: ((look: () => void) => Disposable) | undefined
  }) {
    this.#driver = parts.driver
    this.#models = Map.groupBy(parts.models.values(), (model) => model.table)
    this.#nonce = parts.nonce
    this.#wake = parts.wake
    this.#watchFile = parts.watchFile
  }

  head(): Maybe<Position> {
    return this.headIn((text, values) => this.#driver.read(text, values, 'short'))
  }

  headIn(query: Query): Maybe<Position> {
    return chain(query(`select seq, at from ${logTable} order by seq desc limit 1`, []), ([row]) =>
      row
        ? this.#position({ seq: Number(row[0]), at: Number(row[1]) })
        : chain(query(floorQuery, []), ([floor]) => this.#position(floorOf(floor))),
    )
  }

  covers(position: Position, change: Change): boolean {
    return (this.#parse(change.position)?.seq ?? 0) <= (this.#parse(position)?.seq ?? 0)
  }

  async tail(): Promise<Position> {
    return this.#position(await this.#floor())
  }

  async read(after: Position, limit: number, isWanted?: IsWanted): Promise<ChangeBatch | 'reset'> {
    const place = this.#parse(after)
    const rows = place && (await this.#rowsAfter(place, limit))
    if (!rows) return 'reset'
    const last = rows.at(-1)
    if (!last) return { changes: [], position: after }
    if (rows.length === limit && last[1] !== null) {
      const rest = await this.#rowsAfter(placeOf(last), -1, `and seq < ${nextOperation}`, last[0], last[1])
      if (!rest) return 'reset'
      rows.push(...rest)
    }
    const ends = endsOf(rows)
    const changes = rows.flatMap((row, index) => this.#changes(row, ends[index] as Row, isWanted))
    const position = this.#position(placeOf(rows.at(-1) as Row))
    // None of it may be wanted, or of models that are ours. Nothing is the answer at the end of the log, and not before.
    if (changes.length > 0 || rows.length < limit) return { changes, position }
    await nextTurn() // reading a file never waits for anything by itself
    return this.read(position, limit, isWanted)
  }

  /**
   * Undefined when the row at the place is not the one that was seen there, or something after it is gone. One statement
   * finds out and reads: between two, somebody might trim. The limit is written out as in any page (`dialect.ts`).
   */
  async #rowsAfter(
    place: Place,
    limit: number,
    condition = '',
    ...values: readonly unknown[]
  ): Promise<Row[] | undefined> {
    const found = await this.#read(
      `select l.*, m.value, (select at from ${logTable} where seq = ?) from ${metaTable} m
       left join (select ${columns} from ${logTable} where seq > ? ${condition} order by seq limit ${Math.trunc(limit)}) l on true
       where m.name = 'floor'`,
      [place.seq, place.seq, ...values],
    )
    const [floor, at] = (found[0] as Row).slice(width)
    const { seq, at: seenAt } = at === null ? floorOf([floor]) : { seq: place.seq, at: Number(at) }
    if (seq !== place.seq || seenAt !== place.at) return undefined
    return found.filter(([seq]) => seq !== null)
  }

  onWake(listener: () => void): Disposable {
    const registration = this.#wake.add(listener)
    if (!this.#watch && this.#watchFile) {
      void this.#look() // what is written from now on is not to be missed
      this.#watch = this.#watchFile(() => this.#look())
    }
    return {
      [Symbol.dispose]: () => {
        registration[Symbol.dispose]()
        if (!this.#wake.hasListeners) this.close()
      },
    }
  }

  async trim(keep: { readonly ageMs: number; readonly rows: number }): Promise<void> {
    const [row] = await this.#read(
      `select max(seq) from ${logTable} where at < ? or seq <= (select max(seq) from ${logTable}) - ?`,
      [Date.now() - keep.ageMs, keep.rows],
    )
    const until = row?.[0] === null ? 0 : Number(row?.[0])
    for (let from = (await this.#floor()).seq; from < until; from += trimmedAtOnce) {
      const to = Math.min(from + trimmedAtOnce, until)
      await this.#driver.transaction(async (query) => {
        const [last] = await query(`select seq, at from ${logTable} where seq <= ? order by seq desc limit 1`, [to])
        if (!last) return
        await query(`update ${metaTable} set value = ? where name = 'floor'`, [`${last[0]}:${last[1]}`])
        await query(`delete from ${logTable} where seq <= ?`, [to])
      }, undefined)
    }
  }

  close(): void {
    this.#watch?.[Symbol.dispose]()
    this.#watch = undefined
  }

  async #look(): Promise<void> {
    try {
      const version = (await this.#read('pragma data_version'))[0]?.[0]
      if (this.#version !== undefined && version !== this.#version) this.#wake.call()
      this.#version = version
    } catch {
      this.close() // the database was closed, and nobody here listens any more
    }
  }

  /** The last row that was let go. */
  async #floor(): Promise<Place> {
    return floorOf((await this.#read(floorQuery))[0])
  }

  #read(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return Promise.resolve(this.#driver.read(text, values, 'short'))
  }

  #position({ seq, at }: Place): Position {
    return `${this.#nonce}.${seq.toString(36)}.${at.toString(36)}`
  }

  #parse(position: Position): Place | undefined {
    const [nonce, seq = '', at = ''] = position.split('.')
    const place = { seq: Number.parseInt(seq, 36), at: Number.parseInt(at, 36) }
    return nonce === this.#nonce && Number.isSafeInteger(place.seq) && Number.isSafeInteger(place.at)
      ? place
      : undefined
  }

  /** Nobody goes on in the middle of an operation: its changes share the place behind its last row, `end`. */
  #changes(
    [seq, operation, table, verb, before, after, at, origin]: Row,
    end: Row,
    isWanted: IsWanted = () => true,
  ): readonly Change[] {
    // None where another process serves more than we know, and several where a table is that of several models.
    const models = this.#models.get(table as string)?.filter(({ name }) => isWanted(name)) ?? []
    if (models.length === 0) return []
    const was = before === null ? undefined : parseImage(before as string)
    const is = after === null ? undefined : parseImage(after as string)
    const common = {
      position: this.#position(placeOf(end)),
      operation: String(operation ?? seq),
      at: new Date(Number(at)).toISOString(),
      ...(origin !== null && { origin: origin as string }),
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

const floorQuery = `select value from ${metaTable} where name = 'floor'`

/** For each row the last one of its operation. */
function endsOf(rows: readonly Row[]): readonly Row[] {
  const ends: Row[] = []
  for (let index = rows.length - 1; index >= 0; index--) {
    const [[, operation], later] = [rows[index] as Row, rows[index + 1]]
    const goesOn = operation !== null && later?.[1] === operation
    ends[index] = goesOn ? (ends[index + 1] as Row) : (rows[index] as Row)
  }
  return ends
}

const placeOf = (row: Row): Place => ({ seq: Number(row[0]), at: Number(row[6]) })

function floorOf(row: Row | undefined): Place {
  const [seq = 0, at = 0] = String(row?.[0] ?? '0:0')
    .split(':')
    .map(Number)
  return { seq, at }
}
