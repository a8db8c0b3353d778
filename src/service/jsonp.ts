import { ServiceError } from '../protocol/errors.ts'
import { EncodedJson, isEncoded } from '../protocol/json.ts'
import type { ServiceRequest, ServiceResponse } from '../protocol/request.ts'

/** A name, with members and numbered places of it: nothing that could be anything else in a script. */
const form = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*|\[\d{1,6}\])*$/
const longest = 100
const parameter = /(?:^|&)callback=([^&]*)/

/** The function a script wants to be called, from the query string. Throws E_BAD_REQUEST for what is no function's name. */
export function callbackOf({ query }: ServiceRequest): string | undefined {
  const found = query === '' ? null : parameter.exec(query)
  if (!found) return undefined
  const name = decode(found[1] as string)
  if (name === '') return undefined
  if (name.length > longest || !form.test(name)) {
    throw new ServiceError('E_BAD_REQUEST', '"callback" is not the name of a function')
  }
  return name
}

/**
 * The answer as a script that calls the function with it. The comment in front keeps the first bytes from being ours
 * to choose, and a function that is not there is not an error. The status stays what it is.
 */
export function asScript(response: ServiceResponse, name: string): ServiceResponse {
  const { body } = response
  if (body === undefined) return response
  const json = isEncoded(body) ? body.encoded : JSON.stringify(body)
  // Two characters that end a line in a script and not in JSON.
  const argument = json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
  return {
    status: response.status,
    headers: { ...response.headers, 'Content-Type': 'text/javascript; charset=utf-8' },
    body: new EncodedJson(`/**/ typeof ${name} === 'function' && ${name}(${argument});`),
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return '%' // no function is called that
  }
}
