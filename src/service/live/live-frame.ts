import type { Position } from '../../protocol/change.ts'
import { problem, ServiceError } from '../../protocol/errors.ts'
import type { QueryResult } from '../../realtime/queries/query-plan.ts'
import type { RowDifference } from '../../realtime/queries/row-difference.ts'
import { encodeDifference } from '../../realtime/queries/row-difference.ts'

/** One message of a stream. */
export interface LiveFrame {
  readonly event: 'open' | 'rows' | 'diff' | 'current' | 'seen' | 'reset' | 'failed' | 'restart' | 'heartbeat'
  /** The query that it is about; undefined: the whole stream. */
  readonly query?: string
  readonly position?: Position | undefined
  /** The operations that the stream has passed with it. */
  operations?: readonly string[]
  /** Further members as JSON text, each with a comma before it. */
  readonly body?: string
}

/** The data of a frame as JSON text. */
export function encodeFrame({ query, position, operations, body = '' }: LiveFrame): string {
  const members =
    (query === undefined ? '' : `,"query":${JSON.stringify(query)}`) +
    (position === undefined ? '' : `,"position":${JSON.stringify(position)}`) +
    (operations === undefined ? '' : `,"operations":${JSON.stringify(operations)}`) +
    body
  return `{${members.slice(1)}}`
}

/** About as many characters as the frame is sent with. */
export const sizeOfFrame = ({ query = '', position = '', operations = [], body = '' }: LiveFrame): number =>
  80 + query.length + 2 * position.length + operations.length * 25 + body.length

/** `key`: the name of the primary key, by which a client tells rows apart. */
export const rowsFrame = (query: string, result: QueryResult, key: string): LiveFrame => {
  const texts = result.rows.map((_, index) => result.textAt(index))
  return {
    event: 'rows',
    query,
    position: result.position,
    body: `,"key":${JSON.stringify(key)},"rows":[${texts.join()}]${totalOf(result)}`,
  }
}

/** What a client that held other rows needs. */
export const resumedFrame = (query: string, result: QueryResult, difference: RowDifference | undefined): LiveFrame => {
  const { position, rows } = result
  if (!difference && result.total === undefined) return { event: 'current', query, position }
  const body = difference ? encodeDifference(difference, rows, (index) => result.textAt(index)) : ''
  return { event: 'diff', query, position, body: body + totalOf(result) }
}

const totalOf = ({ total }: QueryResult): string => (total === undefined ? '' : `,"total":${total}`)

/** An error that is not meant for clients is reported. */
export function failedFrame(query: string, error: unknown, onError: (error: unknown) => void): LiveFrame {
  if (!(error instanceof ServiceError)) onError(error)
  const shown = error instanceof ServiceError ? error : new ServiceError('E_INTERNAL', 'Internal server error')
  return { event: 'failed', query, body: `,"error":${JSON.stringify(problem(shown))}` }
}
