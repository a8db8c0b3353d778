import { ServiceError } from '../../protocol/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import { maxHeaderBytes, type ServiceRequest } from '../../protocol/request.ts'
import type { Limits } from '../../support/limits.ts'
import { referencesIn, urlReferences } from './references.ts'

/** One request of a batch. Its values may refer to answers of earlier ones. */
export interface BatchItem {
  readonly index: number
  readonly method: string
  readonly url: string
  readonly body: Json | undefined
  /** The number of references in the body. */
  readonly references: number
  readonly headers: ServiceRequest['headers']
}

const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
const members = new Set(['method', 'url', 'body', 'headers'])
/** The headers that concern one request. Those of the body's format say nothing here. */
const takenHeaders = new Set(['if-match', 'if-none-match'])
const ignoredHeaders = new Set(['content-type', 'accept'])

/** The requests of a batch. Throws E_BAD_BODY for what is no list of requests, before any of them is executed. */
export function readBatch({ path, body }: ServiceRequest, limits: Limits): readonly BatchItem[] {
  if (!Array.isArray(body))
    throw new ServiceError('E_BAD_BODY', 'The body of a batch is a list of { method, url, body, headers }')
  if (body.length > limits.maxBatch)
    throw new ServiceError('E_BAD_REQUEST', `A batch has at most ${limits.maxBatch} requests`, { limit: 'maxBatch' })
  const folder = path.slice(0, path.lastIndexOf('/', path.length - 2) + 1)
  return body.map((item: Json, index) => readItem(item, index, folder, limits))
}

/** An address: a path, or one that is relative to the folder of the batch, so that it needs no prefix. */
const addressForm = /^(?:\/|\w+(?:[/?#]|$))/

function readItem(item: Json, index: number, folder: string, limits: Limits): BatchItem {
  const refuse = (problem: string): never => {
    throw new ServiceError('E_BAD_BODY', `Request ${index} of the batch ${problem}`)
  }
  if (!isJsonObject(item)) return refuse('is not an object')
  const unknown = Object.keys(item).find((name) => !members.has(name))
  if (unknown !== undefined) return refuse(`has no member "${unknown.slice(0, 60)}"`)
  const { method, url: given, body, headers = {} } = item
  if (typeof method !== 'string' || !methods.has(method.toUpperCase()))
    return refuse(`needs a method: ${[...methods].join(', ')}`)
  if (typeof given !== 'string' || !addressForm.test(given))
    return refuse('needs a url that begins with a slash or a name, such as "/pet/7" or "pet/7"')
  const url = given.startsWith('/') ? given : folder + given
  if (Buffer.byteLength(url) > limits.maxUrlBytes)
    throw new ServiceError('E_URL_TOO_LONG', `The URL of request ${index} is longer than ${limits.maxUrlBytes} bytes`, {
      limit: 'maxUrlBytes',
    })
  if (!isJsonObject(headers)) return refuse('has headers that are not an object')
  const references = referencesIn(body)
  for (const { index: to } of [...urlReferences(url), ...references])
    if (to >= index) refuse('refers to a request that does not precede it')
  return {
    index,
    method: method.toUpperCase(),
    url,
    body,
    references: references.length,
    headers: readHeaders(headers, refuse),
  }
}

function readHeaders(headers: JsonObject, refuse: (problem: string) => never): ServiceRequest['headers'] {
  const read: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase()
    if (ignoredHeaders.has(key)) continue
    if (!takenHeaders.has(key)) refuse(`may not have the header "${name.slice(0, 60)}": the batch has one for all`)
    if (typeof value !== 'string') return refuse(`has a header "${name}" that is not a text`)
    if (value.length > maxHeaderBytes) refuse(`has a header "${name}" of more than ${maxHeaderBytes} characters`)
    read[key] = value
  }
  return read
}
