/** A JSON value that nobody may change. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json
}

/** JSON that is already text, so that a record is encoded once on its way from the database to the wire. */
export class EncodedJson {
  readonly encoded: string

  constructor(encoded: string) {
    this.encoded = encoded
  }
}

export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A class, and not a shape: no value that somebody sent or stored can be taken for text that is safe to send. */
export const isEncoded = (value: Json | EncodedJson): value is EncodedJson => value instanceof EncodedJson
