import { hash } from 'node:crypto'
import type { Position } from '../../protocol/change.ts'
import type { QueryPlan } from '../../realtime/queries/query-plan.ts'

/*
 * What a client resumes from says more than a position of the log: which values a row has depends also on the attributes and
 * rules of its requester, whose changes are not in the log.
 */

/** In no position of a log. */
const separator = '!'
const digestLength = 8

export interface ResumePosition {
  readonly position: Position
  /** Of the queries that the stream had. */
  readonly digests: readonly string[]
}

export const encodeResumePosition = (position: Position, digests: Iterable<string>): Position =>
  `${position}${separator}${[...digests].join('.')}`

/** Also of a position without digests. */
export function decodeResumePosition(text: Position): ResumePosition {
  const [position = '', digests = ''] = text.split(separator, 2)
  return { position, digests: digests.split('.') }
}

/**
 * Equal for a query of this name whose rows have the same values. With the name, so that another query of the stream does
 * not stand for it; with a secret, so that rules cannot be guessed from it.
 */
export const queryDigest = (name: string, { key }: QueryPlan, secret: string): string =>
  hash('sha256', JSON.stringify([secret, 'query', name, key]), 'base64url').slice(0, digestLength)
