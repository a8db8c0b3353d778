import type { Attribute, Model } from '../../../model/model.ts'
import type { Change, RecordId } from '../../../protocol/change.ts'
import type { Json, JsonObject } from '../../../protocol/json.ts'
import { imageRecord } from '../../image-record.ts'
import { sqliteDialect } from '../dialect.ts'

/** A row in the log, by column. */
export type Image = Readonly<Record<string, unknown>>

/** Integers of any size are exact. */
export const parseImage = (text: string): Image =>
  JSON.parse(text, longDigits.test(text) ? (exactly as (key: string, value: unknown) => unknown) : undefined)

const longDigits = /\d{16}/
const integer = /^-?\d+$/

const exactly = (_: string, value: unknown, { source = '' }: { readonly source?: string }): unknown =>
  typeof value === 'number' && !Number.isSafeInteger(value) && integer.test(source) ? BigInt(source) : value

export function keyIn(image: Image, model: Model): Change['id'] {
  const key = model.key.map((attribute) => decoded(attribute, image) as RecordId)
  return key.length === 1 ? (key[0] as RecordId) : key
}

/** The record of an image, without columns that were not captured when the row was written. */
export function recordIn(image: Image, model: Model): JsonObject {
  return imageRecord(model, (attribute) =>
    image[attribute.column] === undefined ? undefined : decoded(attribute, image),
  )
}

const decoded = (attribute: Attribute, image: Image): Json =>
  sqliteDialect.decodeImage(attribute, image[attribute.column] ?? null)
