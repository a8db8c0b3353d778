import type { Criteria, Selection } from '../criteria/criteria.ts'
import type { Attribute } from '../model/model.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { Dialect } from '../sql/dialect.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import type { Row } from './driver.ts'
import { compileEncoder, type Encoder } from './encoder.ts'
import type { Columns } from './sql-selects.ts'
import { type Embedded, type Records, requireLength } from './store.ts'
import { setOperation, type WriteOrigin } from './write-origin.ts'

/** What encodes records without members, and with some. */
export interface RecordEncoders {
  readonly dialect: Dialect
  of(selection: Selection): Encoder
  /** Leaves out the attributes that have the names of members. */
  without(selection: Selection, names: readonly string[]): Encoder
}

/** The encoders of one database, cached by selection and by the names of embedded members. */
export class Encoders implements RecordEncoders {
  readonly dialect: Dialect
  readonly #plain = new WeakMap<Selection, Encoder>()
  readonly #embedding = new WeakMap<Selection, Map<string, Encoder>>()

  constructor(dialect: Dialect) {
    this.dialect = dialect
  }

  of(selection: Selection): Encoder {
    return this.#plain.get(selection) ?? this.#compile(selection)
  }

  #compile(selection: Selection): Encoder {
    const encoder = compileEncoder(selection, this.dialect, new Set())
    this.#plain.set(selection, encoder)
    return encoder
  }

  /** Tells the receipt of a write the operation that its rows came with. */
  noteOperation(rows: readonly Row[], origin: WriteOrigin): void {
    if (this.dialect.operation !== undefined && rows[0]) setOperation(origin, rows[0].at(-1) as string)
  }

  without(selection: Selection, names: readonly string[]): Encoder {
    const encoders = getOrInsertComputed(this.#embedding, selection, () => new Map<string, Encoder>())
    return getOrInsertComputed(encoders, names.join(), () => compileEncoder(selection, this.dialect, new Set(names)))
  }
}

/** Encoders for rows that contain the text of the record, without its closing brace. */
export function encodersOfTexts(dialect: Dialect, stored: Selection, textOf: (row: Row) => string): RecordEncoders {
  const encoder: Encoder = { stored, encodeOpen: textOf, decode: (row) => JSON.parse(`${textOf(row)}}`) }
  return { dialect, of: () => encoder, without: () => encoder }
}

/** So many rows are looked at together before the first of them is encoded. */
const groupRows = 64

/** Rows as the driver returned them, encoded or decoded on demand. */
export class SqlRecords implements Records {
  readonly length: number
  readonly size: number
  readonly #rows: readonly Row[]
  readonly #selection: Selection
  readonly #encoders: RecordEncoders
  readonly #encoder: Encoder
  readonly #members: readonly Embedded[]
  /** The member names as JSON object keys, with the comma before and the colon. */
  readonly #keys: readonly string[]
  readonly next: readonly unknown[] | undefined
  /** The last group of rows that was encoded, and what encodes it. */
  #group = -1
  #encode: Encoder['encodeOpen'] | undefined

  constructor(
    rows: readonly Row[],
    selection: Selection,
    encoders: RecordEncoders,
    next?: readonly unknown[] | undefined,
    members: readonly Embedded[] = none,
  ) {
    this.length = rows.length
    this.#rows = rows
    this.#selection = selection
    this.#encoders = encoders
    this.next = next
    this.#members = members
    if (members.length === 0) {
      this.size = rows.length
      this.#keys = none
      this.#encoder = encoders.of(selection)
    } else {
      this.size = members.reduce((sum, { size = 0 }) => sum + size, rows.length)
      const names = members.map(({ name }) => name)
      this.#keys = names.map((name) => `,${JSON.stringify(name)}:`)
      this.#encoder = encoders.without(selection, names)
    }
  }

  values(attribute: Attribute): readonly Json[] {
    const index = this.#encoder.stored.indexOf(attribute)
    const { dialect } = this.#encoders
    return this.#rows.map((row) => (row[index] === null ? null : dialect.decode(attribute, row[index])))
  }

  encodeAt(index: number, maxBytes?: number): string {
    const row = this.#rows[index] as Row
    let text = this.length === 1 ? this.#encoder.encodeOpen(row) : this.#encoderAt(index)(row)
    for (let place = 0; place < this.#members.length; place++) {
      const key = this.#keys[place] as string
      text += text.length === 1 ? key.slice(1) : key
      text += (this.#members[place] as Embedded).encode(index, maxBytes)
      requireLength(text, maxBytes)
    }
    return `${text}}`
  }

  *pieces(index: number, maxBytes?: number): Iterable<string> {
    let text = this.#encoderAt(index)(this.#rows[index] as Row)
    for (const [place, member] of this.#members.entries()) {
      const key = this.#keys[place] as string
      yield `${text}${place === 0 && text.length === 1 ? key.slice(1) : key}`
      if (member.pieces) yield* member.pieces(index, maxBytes)
      else yield member.encode(index, maxBytes)
      text = ''
    }
    yield `${text}}`
  }

  #encoderAt(index: number): Encoder['encodeOpen'] {
    const group = Math.floor(index / groupRows)
    if (group === this.#group && this.#encode) return this.#encode
    const from = group * groupRows
    const { encodeOpen, encoderOf = () => encodeOpen } = this.#encoder
    this.#group = group
    this.#encode = encoderOf(this.#rows, from, Math.min(from + groupRows, this.length))
    return this.#encode
  }

  decode(): readonly JsonObject[] {
    return this.#rows.map((_, index) => this.decodeAt(index))
  }

  decodeAt(index: number): JsonObject {
    const record = this.#encoder.decode(this.#rows[index] as Row)
    if (this.#members.length === 0) return record
    return { ...record, ...Object.fromEntries(this.#members.map((member) => [member.name, member.decode(index)])) }
  }

  embedded(name: string): Records | undefined {
    return this.#members.find((member) => member.name === name)?.records?.()
  }

  embed(members: readonly Embedded[]): Records {
    return new SqlRecords(this.#rows, this.#selection, this.#encoders, this.next, [
      ...this.#members.filter(({ name }) => members.every((member) => member.name !== name)),
      ...members,
    ])
  }
}

/** The rows of a page, without the one that tells whether another follows. */
export function pageOf(
  rows: readonly Row[],
  { select, limit }: Criteria,
  columns: Columns | undefined,
  encoders: RecordEncoders,
): Records {
  if (!columns || rows.length <= limit) return new SqlRecords(rows, select, encoders)
  const last = rows[limit - 1]
  return new SqlRecords(rows.slice(0, limit), select, encoders, last && columns.sortedAt.map((at) => last[at]))
}

const none: readonly never[] = []
