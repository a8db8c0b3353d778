import type { Attribute, Model, Models } from '../../model/model.ts'
import type { Change, Position, RecordId, Verb } from '../../protocol/change.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { chain, type Maybe } from '../../support/maybe.ts'
import { captureTable, logTable, metaTable } from '../capture.ts'
import type { ChangeBatch, SqlChangeLog } from '../change-log.ts'
import type { Driver, Query, Row } from '../driver.ts'
import type { Wake } from '../wake.ts'
import { sqliteDialect } from './dialect.ts'

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
  `create table if not exists ${captureTable} ("table" text primary key, model text not null, columns text not null, version text not null) without rowid`,
  `insert or ignore into ${metaTable} values ('nonce', lower(hex(randomblob(8)))), ('floor', '0:0'), ('secret', lower(hex(randomblob(32))))`,
]

/** How often we look whether another program has written, while somebody listens. */
const strangersMs = 200
/** The writer is not held for longer than deleting this many takes. */
const trimmedAtOnce = 2000

interface Place {
  readonly seq: number
  /** When that row was written: a number alone would also fit the log of a restored backup. */
  readonly at: number
}

const columns = 'seq, operation, model, verb, id, before, after, at, origin'

/** One writer, so the number of a row is its place: SQLite commits them in this order. */
export class SqliteChangeLog implements SqlChangeLog {
  readonly #driver: Driver
  readonly #models: Models
  readonly #nonce: string
  readonly #wake: Wake
  #watch: NodeJS.Timeout | undefined
  #version: unknown
  readonly caveat = undefined

  constructor(driver: Driver, models: Models, nonce: string, wake: Wake) {
    this.#driver = driver
    this.#models = models
    this.#nonce = nonce
    this.#wake = wake
  }

  head(): Maybe<Position> {
    return this.headIn((text, values) => this.#driver.read(text, values, 'short'))
  }

  headIn(query: Query): Maybe<Position> {
    return chain(query(`select seq, at from ${logTable} order by seq desc limit 1`, []), ([row]) =>
      row
        ? this.#position({ seq: Number(row[0]), at: Number(row[1]) })
        : chain(query(floorQuery, []), ([floor]) => this.#position(placeOf(floor))),
    )
  }

  covers(position: Position, change: Change): boolean {
    return (this.#parse(change.position)?.seq ?? 0) <= (this.#parse(position)?.seq ?? 0)
  }

  async tail(): Promise<Position> {
    return this.#position(await this.#floor())
  }

  async read(after: Position, limit: number): Promise<ChangeBatch | 'reset'> {
    const place = this.#parse(after)
    if (!place || !(await this.#holds(place))) return 'reset'
    const rows = [
      ...(await this.#read(`select ${columns} from ${logTable} where seq > ? order by seq limit ?`, [
        place.seq,
        limit,
      ])),
    ]
    const last = rows.at(-1)
    if (!last) return { changes: [], position: after }
    if (rows.length === limit && last[1] !== null) {
      const rest = `select ${columns} from ${logTable} where seq > ? and operation = ? order by seq`
      rows.push(...(await this.#read(rest, [last[0], last[1]])))
    }
    const end = rows.at(-1) as Row
    const changes = rows.flatMap((row) => this.#change(row))
    const position = this.#position({ seq: Number(end[0]), at: Number(end[7]) })
    // All of it may be of models that only others serve; nothing is the answer at the end of the log, and not before.
    return changes.length === 0 && rows.length >= limit ? this.read(position, limit) : { changes, position }
  }

  onWake(listener: () => void): Disposable {
    const registration = this.#wake.add(listener)
    if (!this.#watch) void this.#look() // what is written from now on is not to be missed
    this.#watch ??= setInterval(() => this.#look().catch(() => this.close()), strangersMs).unref()
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
    clearInterval(this.#watch)
    this.#watch = undefined
  }

  /** Fails when the database was closed: then nobody writes any more that could be heard. */
  async #look(): Promise<void> {
    const version = (await this.#read('pragma data_version'))[0]?.[0]
    if (this.#version !== undefined && version !== this.#version) this.#wake.call()
    this.#version = version
  }

  /** Everything after the place is still there, and the row at the place is the one the client saw. */
  async #holds(place: Place): Promise<boolean> {
    const [row] = await this.#read(`select at from ${logTable} where seq = ?`, [place.seq])
    if (row) return Number(row[0]) === place.at
    const floor = await this.#floor()
    return floor.seq === place.seq && floor.at === place.at
  }

  /** The last row that was let go. */
  async #floor(): Promise<Place> {
    return placeOf((await this.#read(floorQuery))[0])
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

  #change([seq, operation, name, verb, id, before, after, at, origin]: Row): readonly Change[] {
    const model = this.#models.get(name as string)
    if (!model) return [] // another process serves more than we know
    return [
      {
        position: this.#position({ seq: Number(seq), at: Number(at) }),
        operation: String(operation ?? seq),
        model: model.name,
        verb: verb as Verb,
        id: keyOf(model, JSON.parse(id as string)),
        ...(before !== null && { before: imageOf(model, before as string) }),
        ...(after !== null && { after: imageOf(model, after as string) }),
        at: new Date(Number(at)).toISOString(),
        ...(origin !== null && { origin: origin as string }),
      },
    ]
  }
}

const floorQuery = `select value from ${metaTable} where name = 'floor'`

function placeOf(row: Row | undefined): Place {
  const [seq = 0, at = 0] = String(row?.[0] ?? '0:0')
    .split(':')
    .map(Number)
  return { seq, at }
}

function keyOf(model: Model, values: readonly Json[]): Change['id'] {
  const key = values.map((value, index) => sqliteDialect.decodeImage(model.key[index] as Attribute, value) as RecordId)
  return key.length === 1 ? (key[0] as RecordId) : key
}

function imageOf(model: Model, text: string): JsonObject {
  const image = JSON.parse(text) as JsonObject
  const record: Record<string, Json> = {}
  for (const attribute of model.attributes.values()) {
    const value = image[attribute.column]
    if (value !== undefined) record[attribute.name] = sqliteDialect.decodeImage(attribute, value)
  }
  return record
}
