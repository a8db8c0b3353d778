import { ServiceError } from '../../protocol/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import type { Limits } from '../../support/limits.ts'
import type { ResolvedSize } from './resolved-size.ts'

/** A value in the answer of an earlier request. */
export interface Reference {
  readonly index: number
  /** The index and the path in its answer: `0.owner.id`. */
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
  if (typeof text !== 'string') return undefined
  for (const name in raw) if (name !== '$ref') return undefined
  return form.test(text) ? parse(text) : undefined
}

/** The path is taken apart when its value is needed: a body may contain tens of thousands of references. */
const parse = (text: string): Reference => ({ index: Number.parseInt(text, 10), text })

export const urlReferences = (url: string): readonly Reference[] =>
  url.includes('$') ? [...url.matchAll(urlForm)].map(([, text]) => parse(text as string)) : []

/** The references in a body, at any depth. */
export function referencesIn(body: Json | undefined, found: Reference[] = []): readonly Reference[] {
  if (typeof body !== 'object' || body === null) return found
  const reference = Array.isArray(body) ? undefined : referenceIn(body as JsonObject)
  if (reference) found.push(reference)
  else for (const value of Array.isArray(body) ? body : Object.values(body)) referencesIn(value, found)
  return found
}

/** The value that a reference names. Only own members count, so that no name leads out of the answer. */
export function resolve({ index, text }: Reference, bodies: AnswerBodies): Json {
  const [, ...path] = text.split('.')
  let value: Json | undefined = bodies(index)
  for (const name of path) {
    const isMember = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    value = isMember ? (value as JsonObject)[name] : undefined
  }
  if (value !== undefined) return value
  throw new ServiceError('E_BAD_REQUEST', `"${text}" names nothing in the answer to request ${index} of the batch`)
}

/** The body with the values that its references name. Throws where it is larger than a body may be. */
export function withValues(body: Json, bodies: AnswerBodies, size: ResolvedSize, levels = size.maxLevels): Json {
  const reference = isJsonObject(body) ? referenceIn(body) : undefined
  if (reference) {
    const value = resolve(reference, bodies)
    size.add(value, levels)
    return value
  }
  size.addOne(body, levels)
  if (Array.isArray(body)) return body.map((item: Json) => withValues(item, bodies, size, levels - 1))
  if (!isJsonObject(body)) return body
  const entries = Object.entries(body).map(([name, value]) => {
    size.addName(name)
    return [name, withValues(value as Json, bodies, size, levels - 1)]
  })
  return Object.fromEntries(entries)
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
