import { ServiceError } from '../../protocol/errors.ts'
import type { Json } from '../../protocol/json.ts'
import { beginsLikeJson, checkedLength, requireBounded } from '../../protocol/json-size.ts'
import type { ServiceRequest } from '../../protocol/request.ts'
import type { Limits } from '../../support/limits.ts'
import { form } from './body/form.ts'
import { json } from './body/json.ts'
import { multipart } from './body/multipart.ts'
import { xml } from './body/xml.ts'
import type { BodyFormat } from './body-format.ts'
import { type ContentType, parseContentType } from './content-type.ts'

/** In the order in which error messages name them. A body without a Content-Type is parsed as JSON. */
const formats: readonly BodyFormat[] = [json, form, multipart, xml]

/** Bodies of other methods are read and discarded. */
export const methodsWithBody: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])

export const bodyTooLarge = ({ maxBodyBytes }: Limits): ServiceError =>
  new ServiceError('E_BODY_TOO_LARGE', `The body is larger than ${maxBodyBytes} bytes`, { limit: 'maxBodyBytes' })

export const tooManyChunks = ({ maxBodyChunks }: Limits): ServiceError =>
  new ServiceError('E_BODY_TOO_LARGE', `The body has more than ${maxBodyChunks} chunks: send longer ones`, {
    limit: 'maxBodyChunks',
  })

/** Parses the bytes of a body according to its headers; undefined when there are none. */
export function parseBody(bytes: Uint8Array, headers: ServiceRequest['headers'], limits: Limits): Json | undefined {
  if (bytes.length === 0) return undefined
  const coding = headers['content-encoding']
  if (coding !== undefined && String(coding).toLowerCase() !== 'identity') {
    throw unsupported('Compressed bodies are not supported: send the body without Content-Encoding')
  }
  const header = headers['content-type']
  if (header === undefined || header === 'application/json') {
    const text = decode(bytes)
    if (header === undefined && !beginsLikeJson(text))
      throw new ServiceError('E_BAD_BODY', 'The body has no Content-Type and is not JSON: name its type')
    return json.parse(text, limits, plainJson)
  }
  const content = typeof header === 'string' ? parseContentType(header) : undefined
  if (!content) throw unsupported('The Content-Type header is invalid')
  const text = decode(bytes)
  if (!json.accepts(content.type) && looksLikeJson(text, limits)) throw jsonWithoutType(content)
  return formatOf(content).parse(text, limits, content)
}

/** `curl -d` and `fetch` send JSON with a Content-Type of another format unless they are given one. */
const jsonWithoutType = ({ type }: ContentType): ServiceError =>
  new ServiceError(
    formats.some(({ accepts }) => accepts(type)) ? 'E_BAD_BODY' : 'E_UNSUPPORTED_MEDIA_TYPE',
    `The body looks like JSON and its Content-Type is ${type}: send it with Content-Type: application/json`,
  )

function looksLikeJson(text: string, limits: Limits): boolean {
  if (!beginsLikeJson(text)) return false
  if (text.length > checkedLength) requireBounded(text, limits)
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const plainJson: ContentType = { type: 'application/json' }

function formatOf(content: ContentType): BodyFormat {
  const format = formats.find(({ accepts }) => accepts(content.type))
  if (!format) {
    const names = formats.map(({ name }) => name).join(', ')
    throw unsupported(`Bodies of this Content-Type are not supported; supported are ${names}`)
  }
  if (content.charset !== undefined && content.charset !== 'utf-8' && content.charset !== 'utf8') {
    throw unsupported('The charset of a body must be utf-8')
  }
  return format
}

// Drops a byte order mark and refuses invalid UTF-8 instead of replacing it.
const utf8 = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new ServiceError('E_BAD_BODY', 'The body is not valid UTF-8')
  }
}

const unsupported = (message: string): ServiceError => new ServiceError('E_UNSUPPORTED_MEDIA_TYPE', message)
