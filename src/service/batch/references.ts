import { ServiceError } from '../../protocol/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import type { Limits } from '../../support/limits.ts'

/** A value in the answer of an earlier request. */
export interface Reference {
  readonly index: number
  readonly path: readonly string[]
  readonly text: string
}

/** The body of an answer. Throws when there is none to refer to. */
export type AnswerBodies = (index: number) => Json | undefined

const form = /^\d{1,5}(?:\.[^.\s]{1,100}){0,10}$/
/** In a URL: `$0.id`. */
const urlForm = /\$(\d{1,5}(?:\.[A-Za-z0-9_]{1,100}){1,10})/g

/** `{ "$ref": "0.id" }`. Any other object is a value: a text such as "#/definitions/pet" is no reference. */
export function referenceIn(raw: JsonObject): Reference | undefined {
  const { $ref: text } = raw
  if (typeof text !== 'string' || !form.test(text)) return undefined
  for (const name in raw) if (name !== '$ref') return undefined
  return parse(text)
}

function parse(text: string): Reference {
  const [index, ...path] = text.split('.') as [string, ...string[]]
  return { index: Number(index), path, text }
}

export const urlReferences = (url: string): readonly Reference[] =>
  url.includes('$') ? [...url.matchAll(urlForm)].map(([, text]) => parse(text as string)) : []

/** The number of references in a body, at any depth. */
export function countReferences(body: Json | undefined): number {
  if (Array.isArray(body)) return body.reduce((sum: number, item: Json) => sum + countReferences(item), 0)
  if (!isJsonObject(body)) return 0
  if (referenceIn(body)) return 1
  return Object.values(body).reduce((sum: number, value) => sum + countReferences(value), 0)
}

/** Whether all references in a body are to requests before this one. */
export function refersToEarlier(body: Json | undefined, index: number): boolean {
  if (Array.isArray(body)) return body.every((item: Json) => refersToEarlier(item, index))
  if (!isJsonObject(body)) return true
  const reference = referenceIn(body)
  return reference ? reference.index < index : Object.values(body).every((value) => refersToEarlier(value, index))
}

/** The value that a reference names. Only own members count, so that no name leads out of the answer. */
export function resolve({ index, path, text }: Reference, bodies: AnswerBodies): Json {
  let value: Json | undefined = bodies(index)
  for (const name of path) {
    const isMember = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    value = isMember ? (value as JsonObject)[name] : undefined
  }
  if (value !== undefined) return value
  throw new ServiceError('E_BAD_REQUEST', `"${text}" names nothing in the answer to request ${index} of the batch`)
}

/** The body with the values that its references name. */
export function withValues(body: Json, bodies: AnswerBodies): Json {
  if (Array.isArray(body)) return body.map((item: Json) => withValues(item, bodies))
  if (!isJsonObject(body)) return body
  const reference = referenceIn(body)
  if (reference) return resolve(reference, bodies)
  const copy: Record<string, Json> = {}
  for (const [name, value] of Object.entries(body))
    Object.defineProperty(copy, name, {
      value: withValues(value as Json, bodies),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  return copy
}

/** The URL with the values that its references name, percent-encoded. */
export function withUrlValues(url: string, bodies: AnswerBodies, { maxUrlBytes }: Limits): string {
  let length = 0
  return url.replace(urlForm, (_, text: string) => {
    const value = resolve(parse(text), bodies)
    if (value !== null && typeof value !== 'object') {
      length += String(value).length
      if (length <= maxUrlBytes) return encodeURIComponent(String(value))
      throw new ServiceError('E_URL_TOO_LONG', `The URL is longer than ${maxUrlBytes} bytes`, { limit: 'maxUrlBytes' })
    }
    throw new ServiceError('E_BAD_REQUEST', `"${text}" is not a text, number or boolean, which a URL could contain`)
  })
}
