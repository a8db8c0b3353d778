import type { Position } from '../../protocol/change.ts'
import { problem, ServiceError } from '../../protocol/errors.ts'
import type { QueryResult } from '../../realtime/queries/query-plan.ts'
import type { RowDifference } from '../../realtime/queries/row-difference.ts'
import { encodeDifference } from '../../realtime/queries/row-difference.ts'
import { shownError } from '../dispatch/shown-error.ts'

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
  /** All rows. Frames about one result share their texts, which are joined as they are sent. */
  readonly result?: QueryResult
}

/** About the rows of a query at a position of the log. */
export type PositionedFrame = LiveFrame & { readonly position: Position }

/** The data of a frame as JSON text. */
export const encodeFrame = (frame: LiveFrame): string =>
  frame.result ? [...framePieces(frame, frame.result)].join('') : `{${membersOf(frame).slice(1)}}`

/** The same text in pieces. `first`: further members before the others. */
export function* framePieces(frame: LiveFrame, result: QueryResult, first = ''): Generator<string> {
  yield `{${`${first}${membersOf(frame)},"rows":[`.slice(1)}`
  for (const [index, text] of result.texts.entries()) yield index === 0 ? text : `,${text}`
  yield `]${totalOf(result)}}`
}

const membersOf = ({ query, position, operations, body = '' }: LiveFrame): string =>
  (query === undefined ? '' : `,"query":${JSON.stringify(query)}`) +
  (position === undefined ? '' : `,"position":${JSON.stringify(position)}`) +
  (operations === undefined ? '' : `,"operations":${JSON.stringify(operations)}`) +
  body

/** About as many characters as the frame is sent with. */
export const sizeOfFrame = ({ query = '', position = '', operations = [], body = '', result }: LiveFrame): number =>
  80 + query.length + 2 * position.length + operations.length * 25 + body.length + (result?.length ?? 0)

/** `key`: the name of the primary key, by which a client tells rows apart. */
export const rowsFrame = (query: string, result: QueryResult, key: string): PositionedFrame => ({
  event: 'rows',
  query,
  position: result.position,
  body: `,"key":${JSON.stringify(key)}`,
  result,
})

/** What a client that held other rows needs. */
export const resumedFrame = (
  query: string,
  result: QueryResult,
  difference: RowDifference | undefined,
): PositionedFrame => {
  const { position, rows } = result
  if (!difference && result.total === undefined) return { event: 'current', query, position }
  const body = difference ? encodeDifference(difference, rows, (index) => result.texts[index] as string) : ''
  return { event: 'diff', query, position, body: body + totalOf(result) }
}

const totalOf = ({ total }: QueryResult): string => (total === undefined ? '' : `,"total":${total}`)

/** An error that is not meant for clients is reported. */
export function failedFrame(query: string, cause: unknown, onError: (error: unknown) => void): LiveFrame {
  const error = shownError(cause)
  if (!(error instanceof ServiceError)) onError(error)
  const shown = error instanceof ServiceError ? error : new ServiceError('E_INTERNAL', 'Internal server error')
  // A frame has no headers. Without it a client cannot tell when to add a query again that failed for a temporary reason.
  const retryAfter = shown.details.headers?.['Retry-After']
  const retry = retryAfter === undefined ? '' : `,"retryAfter":${Number(retryAfter)}`
  return { event: 'failed', query, body: `,"error":${JSON.stringify(problem(shown))}${retry}` }
}
