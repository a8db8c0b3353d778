import { hash } from 'node:crypto'
import { canonicalJson } from '../protocol/canonical-json.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { cursor, namesOf, skip, transportParameters } from './parameters.ts'

/*
 * A link whose address would be too long has the cursor without the other parameters. Such a cursor contains a hash of them: without
 * them, or with others, it would begin a page of another list.
 */

type ListParameters = Readonly<Record<'query' | 'body', JsonObject>>

export const boundCursor = (cursor: string, parameters: ListParameters): string => `${cursor}.${hashOf(parameters)}`

/** Throws E_BAD_CRITERIA for a bound cursor with other parameters than those that it was made for. */
export function assertBoundTo(parameters: ListParameters, place: Json | undefined): void {
  const bound = typeof place === 'string' ? place.split('.')[2] : undefined
  if (bound === undefined || bound === hashOf(parameters)) return
  throw new ServiceError(
    'E_BAD_CRITERIA',
    '"cursor" belongs to a list with long parameters, which its link leaves out: send them again, as for the first page, together with "cursor"',
  )
}

/** Not hashed: where a page begins, and what the transport reads. */
const unbound = namesOf([cursor, skip, ...transportParameters])

function hashOf({ query, body }: ListParameters): string {
  const bound = Object.entries({ ...query, ...body }).filter(([name]) => !unbound.has(name))
  return hash('sha256', canonicalJson(Object.fromEntries(bound)), 'base64url').slice(0, 16)
}
