import { ServiceError } from '../../protocol/errors.ts'
import type { Json } from '../../protocol/json.ts'
import type { ServiceRequest } from '../../protocol/request.ts'
import type { Limits } from '../../support/limits.ts'
import { form } from './body/form.ts'
import { json } from './body/json.ts'
import { multipart } from './body/multipart.ts'
import { xml } from './body/xml.ts'
import type { BodyFormat } from './body-format.ts'
import { type ContentType, parseContentType } from './content-type.ts'

/** In the order in which a refusal names them. A body without a type is tried as JSON. */
const formats: readonly BodyFormat[] = [json, form, multipart, xml]

const methodsWithBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
/** For other methods a body has no meaning: it is read past. */
export const bodyCounts = (method: string): boolean => methodsWithBody.has(method)

export const bodyTooLarge = ({ maxBodyBytes }: Limits): ServiceError =>
  new ServiceError('E_BODY_TOO_LARGE', `The body is larger than ${maxBodyBytes} bytes`, { limit: 'maxBodyBytes' })

/** What the bytes of a body mean, by the headers that came with them; undefined when there are none. */
export function parseBody(bytes: Uint8Array, headers: ServiceRequest['headers'], limits: Limits): Json | undefined {
  if (bytes.length === 0) return undefined
  const coding = headers['content-encoding']
  if (coding !== undefined && coding !== 'identity') {
    throw unsupported('Compressed bodies are not understood: send it without Content-Encoding')
  }
  const header = headers['content-type']
  if (header === undefined || header === 'application/json') return json.parse(decode(bytes), limits, plainJson)
  const content = typeof header === 'string' ? parseContentType(header) : undefined
  if (!content) throw unsupported('The Content-Type header cannot be understood')
  return formatOf(content).parse(decode(bytes), limits, content)
}

const plainJson: ContentType = { type: 'application/json' }

function formatOf(content: ContentType): BodyFormat {
  const format = formats.find(({ accepts }) => accepts(content.type))
  if (!format) {
    const names = formats.map(({ name }) => name).join(', ')
    throw unsupported(`A body of this type is not understood; understood are ${names}`)
  }
  if (content.charset !== undefined && content.charset !== 'utf-8' && content.charset !== 'utf8') {
    throw unsupported('The charset of a body can only be utf-8')
  }
  return format
}

// A byte order mark is dropped, as it should be. Nothing is replaced: what is not UTF-8 is refused.
const utf8 = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new ServiceError('E_BAD_BODY', 'The body is not valid UTF-8')
  }
}

const unsupported = (message: string): ServiceError => new ServiceError('E_UNSUPPORTED_MEDIA_TYPE', message)
