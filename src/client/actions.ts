import type { Json } from '../protocol/json.ts'
import type { RequestError } from './errors.ts'
import type { HttpSender } from './http.ts'
import type { CallOptions } from './options.ts'
import { queryString } from './query-string.ts'

/** Calls an action. Resolves with its result; one that is no JSON, such as a file, is the response itself. */
export async function callAction(
  http: HttpSender,
  path: string,
  input?: Json,
  call?: CallOptions,
): Promise<Json | Response | undefined> {
  let response: Response
  try {
    response = await http.open({ ...call, method: 'POST', path, body: input })
  } catch (error) {
    // An action that only reads has another method.
    if ((error as RequestError).status !== 405) throw error
    response = await http.open({ ...call, method: 'GET', path: path + queryString(input as object) })
  }
  const isJson = response.headers.get('Content-Type')?.includes('json')
  return isJson ? ((await response.json()) as Json) : response.status === 204 ? undefined : response
}
