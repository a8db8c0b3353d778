import type { Attribute, Model } from '../model/model.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { Dialect } from '../sql/dialect.ts'
import type { Row } from './driver.ts'
import type { EncodedList, EncodedPage } from './encoding.ts'
import { encodersOfTexts, SqlRecords } from './sql-records.ts'
import type { Embedded, Records } from './store.ts'

/** Records that another process has read and encoded. The bytes of the list are sent as they came. */
export class EncodedRecords implements Records {
  readonly length: number
  readonly size: number
  readonly next: readonly unknown[] | undefined
  readonly #page: EncodedPage
  readonly #model: Model
  readonly #dialect: Dialect
  #single: SqlRecords | undefined

  constructor(page: EncodedPage, model: Model, dialect: Dialect) {
    this.length = page.ends.length
    this.size = this.length
    this.next = page.next
    this.#page = page
    this.#model = model
    this.#dialect = dialect
  }

  get encoded(): EncodedList {
    return this.#page
  }

  values(attribute: Attribute): readonly Json[] {
    if (attribute.name === this.#model.primaryKey.name)
      return this.#page.keys.map((key) => (key === null ? null : this.#dialect.decode(attribute, key)))
    return this.decode().map((record) => record[attribute.name] ?? null)
  }

  encodeAt(index: number, maxBytes?: number): string {
    return this.#records.encodeAt(index, maxBytes)
  }

  pieces(index: number, maxBytes?: number): Iterable<string> {
    return this.#records.pieces(index, maxBytes)
  }

  decode(): readonly JsonObject[] {
    return this.#records.decode()
  }

  decodeAt(index: number): JsonObject {
    return this.#records.decodeAt(index)
  }

  embedded(): undefined {}

  embed(members: readonly Embedded[]): Records {
    return this.#records.embed(members)
  }

  /** One by one: rows of the key and the index. */
  get #records(): SqlRecords {
    if (!this.#single) {
      const { keys, next } = this.#page
      const rows = keys.map((key, index) => [key, index])
      const select = [this.#model.primaryKey]
      const textOf = (row: Row) => textAt(this.#page, row[1] as number)
      this.#single = new SqlRecords(rows, select, encodersOfTexts(this.#dialect, select, textOf), next)
    }
    return this.#single
  }
}

/** The text of a record, without its closing brace: a page may have 15 MB, and is not joined for it. */
function textAt({ parts, ends }: EncodedPage, index: number): string {
  const from = 1 + (ends[index - 1] ?? 0)
  const to = (ends[index] as number) - 1
  const pieces: Buffer[] = []
  let begin = 0
  for (const part of parts) {
    const end = begin + part.length
    if (begin < to && end > from) pieces.push(part.subarray(Math.max(0, from - begin), to - begin))
    begin = end
  }
  return (pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)).toString()
}
