import type { Selection } from '../../criteria/criteria.ts'
import type { RecordId } from '../../protocol/change.ts'
import type { EncodedJson, Json, JsonObject } from '../../protocol/json.ts'
import type { Records } from '../store.ts'

/** Rows that are objects already. */
export class MemoryRecords implements Records {
  readonly #rows: readonly JsonObject[]

  constructor(rows: readonly JsonObject[], select: Selection) {
    this.#rows = rows.map((row) => Object.fromEntries(select.map(({ name }) => [name, row[name] as Json])))
    this.#key = select.find((attribute) => attribute.isPrimaryKey)?.name ?? ''
  }

  readonly #key: string

  get length(): number {
    return this.#rows.length
  }

  ids(): readonly RecordId[] {
    return this.#rows.map((row) => row[this.#key] as RecordId)
  }

  encode(): EncodedJson {
    return { encoded: JSON.stringify(this.#rows) }
  }

  encodeFirst(): EncodedJson {
    return { encoded: JSON.stringify(this.#rows[0]) }
  }

  decode(): readonly JsonObject[] {
    return structuredClone(this.#rows) as readonly JsonObject[]
  }
}
