import { hash } from 'node:crypto'
import { canonicalJson } from '../protocol/canonical-json.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { cursor, namesOf, skip, transportParameters } from './parameters.ts'

/*
 * A link whose address would be too long has the cursor without the other parameters. Such a cursor names them by a hash: without
 * them it would begin a page of another list.
 */

type Question = Readonly<Record<'query' | 'body', JsonObject>>

export const cursorOf = (question: Question, cursor: string): string => `${cursor}.${hashOf(question)}`

/** Throws E_BAD_CRITERIA for a cursor of `cursorOf` with other parameters than those it was made for. */
export function assertSameQuestion(place: Json | undefined, question: Question): void {
  const named = typeof place === 'string' ? place.split('.')[2] : undefined
  if (named === undefined || named === hashOf(question)) return
  const message =
    '"cursor" is of a list whose parameters are too long for a link: they are sent with it, as they were for the first page'
  throw new ServiceError('E_BAD_CRITERIA', message)
}

/** A page says itself where it begins. */
const others = namesOf([cursor, skip, ...transportParameters])

function hashOf({ query, body }: Question): string {
  const asked = Object.entries({ ...query, ...body }).filter(([name]) => !others.has(name))
  return hash('sha256', canonicalJson(Object.fromEntries(asked)), 'base64url').slice(0, 16)
}
