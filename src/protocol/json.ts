/** An immutable JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json
}

/** Encoded JSON: a record is encoded once between the database and the transport. A long text is in parts, as UTF-8. */
export class EncodedJson {
  declare readonly parts: readonly Uint8Array[] | undefined
  /** Undefined where the text is in parts and was not asked for. */
  declare text: string | undefined

  constructor(content: string | readonly Uint8Array[]) {
    const isText = typeof content === 'string'
    this.text = isText ? content : undefined
    this.parts = isText ? undefined : content
  }

  /** As one text: of parts it is made when it is first asked for. */
  get encoded(): string {
    this.text ??= textOf(this.parts ?? [])
    return this.text
  }
}

function textOf(parts: readonly Uint8Array[]): string {
  const decoder = new TextDecoder()
  return parts.map((part) => decoder.decode(part, { stream: true })).join('') + decoder.decode()
}

export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Tested by class and not by shape, so that no received or stored value can pass for encoded JSON. */
export const isEncoded = (value: Json | EncodedJson): value is EncodedJson => value instanceof EncodedJson
