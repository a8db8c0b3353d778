import { errorResponse } from '../../protocol/error-response.ts'
import { ServiceError } from '../../protocol/errors.ts'
import { isEncoded } from '../../protocol/json.ts'
import type { ServiceResponse } from '../../protocol/request.ts'
import type { Limits } from '../../support/limits.ts'
import type { MalformedMessage } from './sails-request.ts'

/** Headers that carry information about the result. All others concern the transfer of a body over HTTP. */
const forwardedHeaders: ReadonlySet<string> = new Set([
  'ETag',
  'Link',
  'X-Total-Count',
  'Allow',
  'Retry-After',
  'Location',
  'Keelson-Operation',
  'Idempotency-Replayed',
  'Keelson-Position',
])

/** A response in the JSON that Sails clients read. The body is the same as over HTTP. */
export function encodeResponse(response: ServiceResponse): string {
  const { headers, body } = response
  const text = body === undefined ? '' : `"body":${encodeBody(body, headers['Content-Type'])},`
  return `{${text}${encodeRest(response)}`
}

/** As `encodeResponse`, for a long list of records; undefined for any other response. */
export function encodeInParts(response: ServiceResponse): readonly Uint8Array[] | undefined {
  const { body, headers } = response
  if (body === undefined || !isEncoded(body) || !body.parts || headers['Content-Type'] !== undefined) return undefined
  return [Buffer.from('{"body":'), ...body.parts, Buffer.from(`,${encodeRest(response)}`)]
}

function encodeRest({ status, headers }: ServiceResponse): string {
  const forwarded = Object.entries(headers).filter(([name]) => forwardedHeaders.has(name))
  return `"headers":${JSON.stringify(Object.fromEntries(forwarded))},"statusCode":${status}}`
}

/** An HTML page or a script is not JSON and is sent as one string. */
function encodeBody(body: NonNullable<ServiceResponse['body']> | null, type = 'application/json'): string {
  if (!isEncoded(body)) return JSON.stringify(body)
  return /^application\/(?:[\w.-]+\+)?json\b/.test(type) ? body.encoded : JSON.stringify(body.encoded)
}

/** The error that Sails sends for a message that is not a request. It contains no stack. */
export const encodeMalformed = ({ message }: MalformedMessage): string =>
  JSON.stringify({
    code: 'SAILS:HOOK:SOCKETS:PARSE_VIRTUAL_REQ',
    name: 'Error',
    status: 400,
    message: 'Failed to parse incoming socket.io request.',
    details: message,
  })

/** The response to a request above the rate limit, which is not executed. */
export const tooManyRequests = ({ maxMessagesPerSecond }: Limits): ServiceResponse =>
  errorResponse(
    new ServiceError('E_TOO_MANY_REQUESTS', `A socket may send ${maxMessagesPerSecond} messages per second`, {
      limit: 'maxMessagesPerSecond',
      headers: { 'Retry-After': '1' },
    }),
    () => {},
  )
