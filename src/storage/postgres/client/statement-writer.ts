import type * as pg from 'pg'
import { executeMessages } from './execute-messages.ts'
import type { QueryRequest } from './text-query.ts'

/** Writes the protocol messages of the requests of one connection, in wire order. */
export interface StatementWriter {
  /** How many statements were prepared. */
  readonly prepared: number
  /** Returns the number of statements that run before the one whose rows are wanted. */
  write(request: QueryRequest, wire: pg.Connection): number
  /** Prepares the statements of the request again when it is sent again. */
  forget(request: QueryRequest): void
}

/** Sets the origin for the rest of the transaction, where the triggers read it. */
export const setOriginCall = `set_config('keelson.origin', $1, true)`
export const setOriginStatement = `select ${setOriginCall}`

/** The statement without a name is replaced by the next one. */
export function writeParse(wire: pg.Connection, name: string, text: string): string {
  wire.parse({ name, text, types: [] }, true)
  return name
}

/** The last statement ends the request. */
export function writeExecute(
  wire: pg.Connection,
  statement: string,
  values: readonly unknown[],
  place: 'before another' | 'last',
): void {
  const { stream } = wire
  if (stream.writable) stream.write(executeMessages(statement, values, place === 'last'))
}
