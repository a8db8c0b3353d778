import { ServiceError } from '../../protocol/errors.ts'
import { EncodedJson, isEncoded, isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import type { ServiceRequest, ServiceResponse } from '../../protocol/request.ts'
import { type Match, route } from './route.ts'
import type { Routes } from './routes.ts'

/** A function name with members and numeric indexes: nothing that could be other code in a script. */
const callbackForm = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*|\[\d{1,6}\])*$/
const maxCallbackLength = 100
const parameter = /(?:^|&)callback=([^&]*)/

/** `?callback=f` is answered for programs and pages of the same site (true), for all pages, or never. */
export type JsonpMode = boolean | 'cross-site'

/** Any page can read by a script element: throws E_FORBIDDEN for pages of other sites, unless the mode allows them. */
export function assertJsonpAllowed({ site }: ServiceRequest, mode: JsonpMode): void {
  if (site === 'cross-site' && mode !== 'cross-site')
    throw new ServiceError(
      'E_FORBIDDEN',
      "Pages of other sites may not read by JSONP unless the setting jsonp is 'cross-site'",
    )
}

/**
 * The callback that a request names in its body or its query string, if any. Throws E_BAD_REQUEST when it is not the
 * name of a function.
 */
export function callbackOf(request: ServiceRequest, routes: Routes): string | undefined {
  const name = callbackInBody(request, routes) ?? callbackInQuery(request)
  if (name === undefined || name === '') return undefined
  if (typeof name !== 'string' || name.length > maxCallbackLength || !callbackForm.test(name)) {
    throw new ServiceError('E_BAD_REQUEST', '"callback" is not the name of a function')
  }
  return name
}

/** A body that has `callback`, as values: without it, unless the record that is written has an attribute of that name. */
export function withoutCallback(body: JsonObject, match: Match): JsonObject {
  if (isAttribute(match)) return body
  const { callback: _, ...values } = body
  return values
}

function callbackInBody({ method, path, body }: ServiceRequest, routes: Routes): Json | undefined {
  if (!isJsonObject(body) || !Object.hasOwn(body, 'callback')) return undefined
  try {
    if (isAttribute(route(routes, method, path))) return undefined
  } catch {
    // There is no such route, which the script receives as its answer.
  }
  return body.callback
}

const isAttribute = ({ model, association, operation }: Match): boolean => {
  const { attributes, associations } = association?.target ?? model
  return (
    operation.takesWholeBody === true ||
    (operation.effect === 'writes' && (attributes.has('callback') || associations.has('callback')))
  )
}

function callbackInQuery({ query }: ServiceRequest): string | undefined {
  const found = query === '' ? null : parameter.exec(query)
  return found ? decode(found[1] as string) : undefined
}

/**
 * The response as a script that calls the function with its body. The leading comment prevents a client from choosing
 * the first bytes (which could form another file type), and a missing function is not an error. The status is kept, and
 * so is a body that is not JSON.
 */
export function asScript(response: ServiceResponse, name: string): ServiceResponse {
  const { body, headers } = response
  if (body === undefined || !isJson(headers['Content-Type'])) return response
  const [before, after] = [`/**/ typeof ${name} === 'function' && ${name}(`, ');']
  const script =
    isEncoded(body) && body.parts
      ? [Buffer.from(before), ...partsOfScript(body.parts), Buffer.from(after)]
      : before + textOfScript(isEncoded(body) ? body.encoded : JSON.stringify(body)) + after
  return {
    status: response.status,
    headers: { ...headers, 'Content-Type': 'text/javascript; charset=utf-8' },
    body: new EncodedJson(script),
  }
}

/** Whether a body is JSON: the landing page and the client's script are not. The type of most responses is added later. */
const isJson = (type: string | undefined): boolean => type === undefined || type.includes('json')

/** Two characters that were line terminators in scripts, but not in JSON, before ES2019. */
const textOfScript = (json: string): string => json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')

/** The bytes with which both characters begin. */
const separator = Buffer.from([0xe2, 0x80])

/** A part may end within a character, whose bytes then begin the next one. */
function* partsOfScript(parts: readonly Uint8Array[]): Iterable<Uint8Array> {
  let begun: Uint8Array = Buffer.alloc(0)
  for (const part of parts) {
    const bytes =
      begun.length === 0 ? Buffer.from(part.buffer, part.byteOffset, part.length) : Buffer.concat([begun, part])
    const end = bytes.length - bytesBegun(bytes)
    begun = bytes.subarray(end)
    yield partOfScript(bytes.subarray(0, end))
  }
  yield begun
}

/** How many bytes at the end may be the first ones of a separator. */
function bytesBegun(bytes: Buffer): number {
  if (bytes.at(-1) === separator[0]) return 1
  return bytes.subarray(-2).equals(separator) ? 2 : 0
}

/** The bytes of other characters stay as they are, also those of one that is not whole. */
const partOfScript = (bytes: Buffer): Uint8Array =>
  bytes.includes(separator) ? Buffer.from(escapeSeparators(bytes.toString('latin1')), 'latin1') : bytes

const escapeSeparators = (latin1: string): string =>
  latin1.replaceAll('\xe2\x80\xa8', '\\u2028').replaceAll('\xe2\x80\xa9', '\\u2029')

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return '%' // refused as a function name
  }
}
