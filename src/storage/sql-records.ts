import type { Selection } from '../criteria/criteria.ts'
import type { Attribute } from '../model/model.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { Dialect } from '../sql/dialect.ts'
import { entry } from '../support/entry.ts'
import type { Row } from './driver.ts'
import { compileEncoder, type Encoder } from './encoder.ts'
import type { Embedded, Records } from './store.ts'

/** The encoders of one database, kept by selection and by what is embedded in place of attributes. */
export class Encoders {
  readonly dialect: Dialect
  readonly #plain = new WeakMap<Selection, Encoder>()
  readonly #embedding = new WeakMap<Selection, Map<string, Encoder>>()

  constructor(dialect: Dialect) {
    this.dialect = dialect
  }

  of(selection: Selection): Encoder {
    return entry(this.#plain, selection, () => compileEncoder(selection, this.dialect, new Set()))
  }

  without(selection: Selection, names: readonly string[]): Encoder {
    const encoders = entry(this.#embedding, selection, () => new Map<string, Encoder>())
    return entry(encoders, names.join(), () => compileEncoder(selection, this.dialect, new Set(names)))
  }
}

/** Rows of a database, untouched until somebody asks for text or for objects. */
export class SqlRecords implements Records {
  readonly #rows: readonly Row[]
  readonly #selection: Selection
  readonly #encoders: Encoders
  readonly #encoder: Encoder
  readonly #members: readonly Embedded[]
  /** Their names, as JSON has them before a value. */
  readonly #keys: readonly string[]
  readonly next: readonly unknown[] | undefined

  constructor(
    rows: readonly Row[],
    selection: Selection,
    encoders: Encoders,
    next?: readonly unknown[] | undefined,
    members: readonly Embedded[] = none,
  ) {
    this.#rows = rows
    this.#selection = selection
    this.#encoders = encoders
    this.next = next
    this.#members = members
    this.#keys = members.map(({ name }) => `${JSON.stringify(name)}:`)
    this.#encoder =
      members.length === 0
        ? encoders.of(selection)
        : encoders.without(
            selection,
            members.map(({ name }) => name),
          )
  }

  get length(): number {
    return this.#rows.length
  }

  values(attribute: Attribute): readonly Json[] {
    const index = this.#selection.indexOf(attribute)
    const { dialect } = this.#encoders
    return this.#rows.map((row) => (row[index] === null ? null : dialect.decode(attribute, row[index])))
  }

  encodeAt(index: number): string {
    let text = this.#encoder.encodeOpen(this.#rows[index] as Row)
    for (let place = 0; place < this.#members.length; place++) {
      text += (text.length === 1 ? '' : ',') + this.#keys[place] + this.#members[place]?.encode(index)
    }
    return `${text}}`
  }

  decode(): readonly JsonObject[] {
    return this.#rows.map((row, index) => {
      const record = this.#encoder.decode(row)
      if (this.#members.length === 0) return record
      return { ...record, ...Object.fromEntries(this.#members.map((member) => [member.name, member.decode(index)])) }
    })
  }

  embed(members: readonly Embedded[]): Records {
    return new SqlRecords(this.#rows, this.#selection, this.#encoders, this.next, [
      ...this.#members.filter(({ name }) => members.every((member) => member.name !== name)),
      ...members,
    ])
  }
}

const none: readonly Embedded[] = []
