import type { StorageClass } from '../model/attribute-type.ts'
import type { Model } from '../model/model.ts'
import type { Column } from './column-encoder.ts'
import type { Encoder } from './encoder.ts'
import type { Columns } from './sql-selects.ts'

/** What the text of a value depends on, besides the value. */
export interface EncodedAttribute {
  readonly name: string
  readonly type: { readonly storedAs: StorageClass }
}

/** How another process encodes a page of records: data, from which it compiles the encoder that this one would use. */
export interface Encoding {
  readonly columns: readonly Column<EncodedAttribute>[]
  /** The place of the primary key in a row. */
  readonly keyAt: number
  /** Given where a row beyond `limit` tells that another page follows. `sortedAt`: the places of the sort values. */
  readonly page: { readonly limit: number; readonly sortedAt: readonly number[] } | undefined
}

/** Records as a JSON array in UTF-8. */
export interface EncodedList {
  /** A part may end anywhere, also within a character. */
  readonly parts: readonly Buffer[]
  /** The fingerprint of the whole text. */
  readonly fingerprint: string
}

/** A page of records that was encoded where it was read. */
export interface EncodedPage extends EncodedList {
  /** Where each record ends in the whole text. */
  readonly ends: Uint32Array
  readonly keys: readonly unknown[]
  /** The sort values of the last record, if another page follows. */
  readonly next: readonly unknown[] | undefined
}

/** The encoding that equals an encoder. Undefined if it computes values, which no other process can do. */
export function encodingOf(
  { stored, columns }: Encoder,
  { primaryKey }: Model,
  limit: number,
  page: Columns | undefined,
): Encoding | undefined {
  if (!columns) return undefined
  return {
    columns: columns.map(({ attribute: { name, type }, index }) => ({
      attribute: { name, type: { storedAs: type.storedAs } },
      index,
    })),
    keyAt: stored.findIndex(({ name }) => name === primaryKey.name),
    page: page && { limit, sortedAt: page.sortedAt },
  }
}
