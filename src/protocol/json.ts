/** A JSON value that nobody may change. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json
}

/** JSON that is already text, so that a record is encoded once on its way from the database to the wire. */
export interface EncodedJson {
  readonly encoded: string
}

export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isEncoded = (value: Json | EncodedJson): value is EncodedJson =>
  typeof value === 'object' && value !== null && typeof (value as EncodedJson).encoded === 'string'
