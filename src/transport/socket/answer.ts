import { problem, ServiceError } from '../../protocol/errors.ts'
import { isEncoded } from '../../protocol/json.ts'
import type { ServiceResponse } from '../../protocol/request.ts'
import type { Limits } from '../../support/limits.ts'
import type { Malformed } from './sails-request.ts'

/** Headers that say more than the carrying of a body over HTTP. */
const told: ReadonlySet<string> = new Set(['ETag', 'Link', 'X-Total-Count', 'Allow', 'Retry-After', 'Location'])

/** An answer as clients of the ancestor read it, in JSON. The body is the same as over HTTP. */
export function encodeAnswer({ status, headers, body }: ServiceResponse): string {
  const shown = JSON.stringify(Object.fromEntries(Object.entries(headers).filter(([name]) => told.has(name))))
  const text = body === undefined ? '' : `"body":${encodeBody(body, headers['Content-Type'])},`
  return `{${text}"headers":${shown},"statusCode":${status}}`
}

/** A page or a script is text that is no JSON, and travels as one string. */
function encodeBody(body: NonNullable<ServiceResponse['body']> | null, type = 'application/json'): string {
  if (!isEncoded(body)) return JSON.stringify(body)
  return /^application\/(?:[\w.-]+\+)?json\b/.test(type) ? body.encoded : JSON.stringify(body.encoded)
}

/** What the ancestor's clients are told of a message that is no request; where the program stood is not their business. */
export const encodeMalformed = ({ message }: Malformed): string =>
  JSON.stringify({
    code: 'SAILS:HOOK:SOCKETS:PARSE_VIRTUAL_REQ',
    name: 'Error',
    status: 400,
    message: 'Failed to parse incoming socket.io request.',
    details: message,
  })

/** Of a request that was not even begun because too many came. */
export const tooManyRequests = ({ maxMessagesPerSecond }: Limits): ServiceResponse =>
  refused(
    new ServiceError('E_TOO_MANY_REQUESTS', `A socket may send ${maxMessagesPerSecond} messages in a second`, {
      limit: 'maxMessagesPerSecond',
      headers: { 'Retry-After': '1' },
    }),
  )

/** Of anything that was thrown; what nobody expected is reported, and only its status told. */
export function failed(error: unknown, report: (error: unknown) => void): ServiceResponse {
  if (error instanceof ServiceError) return refused(error)
  report(error)
  return refused(new ServiceError('E_INTERNAL', 'The cause is known to those who run this service'))
}

const refused = (error: ServiceError): ServiceResponse => ({
  status: error.status,
  headers: { ...error.details.headers },
  body: problem(error),
})
