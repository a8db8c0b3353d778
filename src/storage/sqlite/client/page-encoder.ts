import { Fingerprint } from '../../../support/fingerprint.ts'
import { Lru } from '../../../support/lru.ts'
import { compileColumns } from '../../column-encoder.ts'
import type { Row } from '../../driver.ts'
import type { EncodedPage, Encoding } from '../../encoding.ts'
import { sqliteDialect } from '../dialect.ts'
import { RowsTooLarge } from './measured-rows.ts'

/** A part of a page has at least so many characters, except the last one. */
const partLength = 65_536

const keptEncoders = 100

/** Encodes pages in a reader process, to the same bytes as the event loop. */
export class PageEncoder {
  readonly #encoders = new Lru<string, (row: Row) => string>(keptEncoders)

  /** Throws RowsTooLarge as soon as the text has more than `maxBytes`. */
  encode(rows: readonly Row[], { columns, keyAt, page }: Encoding, maxBytes: number): EncodedPage {
    const encodeOpen = this.#encoderOf(columns)
    const records = page && rows.length > page.limit ? rows.slice(0, page.limit) : rows
    const ends = new Uint32Array(records.length)
    const parts: Buffer[] = []
    const fingerprint = new Fingerprint()
    let text = '['
    let end = text.length
    const endPart = (): void => {
      const part = Buffer.from(text)
      fingerprint.add(part)
      parts.push(part)
      text = ''
    }
    for (const [index, row] of records.entries()) {
      const record = `${index === 0 ? '' : ','}${encodeOpen(row)}}`
      end += Buffer.byteLength(record)
      if (end >= maxBytes) throw new RowsTooLarge()
      ends[index] = end
      text += record
      if (text.length > partLength) endPart()
    }
    text += ']'
    endPart()
    const last = records === rows ? undefined : records.at(-1)
    return {
      parts,
      fingerprint: fingerprint.end(),
      ends,
      keys: records.map((row) => row[keyAt]),
      next: last && page?.sortedAt.map((place) => last[place]),
    }
  }

  #encoderOf(columns: Encoding['columns']): (row: Row) => string {
    const key = JSON.stringify(columns)
    let encoder = this.#encoders.get(key)
    if (!encoder) {
      encoder = compileColumns(columns, sqliteDialect).encodeOpen
      this.#encoders.set(key, encoder)
    }
    return encoder
  }
}
