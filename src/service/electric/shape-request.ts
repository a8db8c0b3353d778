import { hash, randomBytes } from 'node:crypto'
import type { Position } from '../../protocol/change.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'

/** A place in a shape: in the list of its records, read from a position on; without a cursor, in the log. */
export interface ShapeOffset {
  readonly position: Position
  readonly cursor?: string
}

/** A request of Electric's shape protocol. */
export interface ShapeRequest {
  readonly table: string
  readonly where: JsonObject
  readonly columns: ReadonlySet<string> | undefined
  /** Updates have all columns instead of the changed ones. */
  readonly isFull: boolean
  /** `start`: all records; `now`: only what changes. */
  readonly offset: ShapeOffset | 'start' | 'now'
  readonly isLive: boolean
  readonly isStream: boolean
  /** Identifies the shape and what its requester may read of it: requests with another one start again. */
  readonly shape: string
  readonly handle: string | undefined
}

/** What clients add for themselves and their caches. */
const ignored = ['cursor', 'expired_handle', 'cache-buster']
const known = [
  'table',
  'where',
  'columns',
  'replica',
  'offset',
  'handle',
  'live',
  'live_sse',
  'experimental_live_sse',
  'log',
]

/**
 * `rights` are equal for requesters that read the same values of this table. Throws a ServiceError for what this service does
 * not offer: SQL conditions and subsets.
 */
export function readShapeRequest(query: string, rights: (table: string) => string = () => ''): ShapeRequest {
  const parameters = new URLSearchParams(query)
  for (const name of parameters.keys()) {
    if (!known.includes(name) && !ignored.includes(name)) throw refused(`There is no parameter "${name}"`)
    if (parameters.getAll(name).length > 1) throw refused(`"${name}" is given more than once`)
  }
  if ((parameters.get('log') ?? 'full') !== 'full') throw refused('"log" must be "full"')
  const table = parameters.get('table') ?? ''
  const columns = readColumns(parameters.get('columns'))
  const where = readWhere(parameters.get('where'))
  const replica = parameters.get('replica') ?? 'default'
  if (replica !== 'default' && replica !== 'full') throw refused('"replica" must be "default" or "full"')
  const isFull = replica === 'full'
  const shape = hash(
    'sha1',
    JSON.stringify([table, where, columns && [...columns], isFull, rights(table)]),
    'base64url',
  ).slice(0, 16)
  const isStream = parameters.get('live_sse') === 'true' || parameters.get('experimental_live_sse') === 'true'
  const offset = readOffset(parameters.get('offset'))
  const handle = parameters.get('handle') ?? undefined
  if (handle !== undefined && !handleForm.test(handle))
    throw refused('"handle" must be the electric-handle of an answer')
  if (typeof offset === 'object' && handle === undefined) throw refused('An offset needs its "handle"')
  return { table, where, columns, isFull, offset, isLive: parameters.get('live') === 'true', isStream, shape, handle }
}

/** Undefined: all. */
function readColumns(text: string | null): ReadonlySet<string> | undefined {
  const names = text?.split(',').map((name) => name.trim().replace(/^"(.*)"$/, '$1'))
  return !names || names.includes('*') ? undefined : new Set(names)
}

/** A condition of this service, as JSON. */
function readWhere(text: string | null): JsonObject {
  if (text === null) return {}
  try {
    return JSON.parse(text)
  } catch {
    throw new ServiceError('E_BAD_CRITERIA', 'where: a condition as JSON, such as {"kind":"dog"}; SQL is not supported')
  }
}

/** The client of Electric compares the positions of a stream as big integers, and adds `_0` to make an offset of one. */
export const offsetText = ({ position, cursor }: ShapeOffset): string =>
  BigInt(`0x${Buffer.from(JSON.stringify({ position, cursor })).toString('hex')}`).toString()

function readOffset(text: string | null): ShapeRequest['offset'] {
  if (text === null || text === '-1') return 'start'
  if (text === 'now') return 'now'
  try {
    const number = /^(\d{1,8000})(?:_0)?$/.exec(text)?.[1] as string
    const decoded = Buffer.from(BigInt(number).toString(16), 'hex').toString()
    const { position, cursor } = JSON.parse(decoded) as { [name: string]: Json }
    if (typeof position === 'string') return { position, ...(typeof cursor === 'string' && { cursor }) }
  } catch {
    // refused below
  }
  throw refused('"offset" must be -1, now, or the electric-offset of an answer')
}

/** It is sent back in a header. */
const handleForm = /^[\w-]{1,100}$/

/** A handle names its shape; the rest makes that of every new start different, as caches need it. */
export const newHandle = (shape: string): string => `${shape}-${randomBytes(6).toString('base64url')}`

const refused = (message: string): ServiceError => new ServiceError('E_BAD_REQUEST', message)
