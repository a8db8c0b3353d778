import type { Selection } from '../criteria/criteria.ts'
import type { RecordId } from '../protocol/change.ts'
import type { EncodedJson, JsonObject } from '../protocol/json.ts'
import type { Row } from './driver.ts'
import type { Encoder } from './encoder.ts'
import type { Records } from './store.ts'

/** Rows of a database, untouched until somebody asks for text or for objects. */
export class SqlRecords implements Records {
  readonly #rows: readonly Row[]
  readonly #selection: Selection
  readonly #encoder: Encoder

  constructor(rows: readonly Row[], selection: Selection, encoder: Encoder) {
    this.#rows = rows
    this.#selection = selection
    this.#encoder = encoder
  }

  get length(): number {
    return this.#rows.length
  }

  ids(): readonly RecordId[] {
    const key = this.#selection.find((attribute) => attribute.isPrimaryKey)?.name as string
    return this.decode().map((record) => record[key] as RecordId)
  }

  encode(): EncodedJson {
    const rows = this.#rows
    if (rows.length === 0) return { encoded: '[]' }
    let text = `[${this.#encoder.encode(rows[0] as Row)}`
    for (let index = 1; index < rows.length; index++) text += `,${this.#encoder.encode(rows[index] as Row)}`
    return { encoded: `${text}]` }
  }

  encodeFirst(): EncodedJson {
    return { encoded: this.#encoder.encode(this.#rows[0] as Row) }
  }

  decode(): readonly JsonObject[] {
    return this.#rows.map((row) => this.#encoder.decode(row))
  }
}
