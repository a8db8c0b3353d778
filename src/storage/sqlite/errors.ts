import { statSync } from 'node:fs'
import { DatabaseError, type DatabaseErrorKind } from '../driver.ts'

/** SQLite's result codes, https://sqlite.org/rescode.html; the low byte is the primary code. */
const busy = 5
const locked = 6
const tooBig = 18
const constraint = 19
const codes = {
  error: 1,
  unique: 2067,
  primaryKey: 1555,
  rowid: 2579,
  foreignKey: 787,
  restricted: 1811,
  notNull: 1299,
  check: 275,
} as const
const primary: Readonly<Record<number, DatabaseErrorKind['kind']>> = {
  [busy]: 'busy',
  [locked]: 'busy',
  7: 'refused', // no memory
  8: 'refused', // read only
  9: 'timeout', // interrupted
  10: 'damaged', // input or output failed
  11: 'damaged', // malformed
  13: 'full',
  14: 'lost', // cannot open
  [tooBig]: 'value',
  [constraint]: 'value', // a constraint of another kind, as the types of a strict table
  20: 'value', // not of the type of a row id
  23: 'refused', // not authorized
  26: 'damaged', // not a database
}

/** These limits have no code of their own. */
const tooComplex = /^(Expression tree is too large|parser stack overflow|too many SQL variables)/

/** Nor has this. */
const missing = /^(no such (table|column): |table \S+ has no column named )/

/** Nor what triggers and foreign keys of other programs demand: a function, a collation, a table, of which they name the schema, or a key. */
const refused =
  /^(no such (function|collation sequence): |unknown function: |no such table: main\.|foreign key mismatch )/

interface SqliteFailure {
  readonly errcode: number
  readonly message: string
  /** The table of the index that is violated, where the message names the index alone. */
  readonly table?: string
}

const isFailure = (error: unknown): error is SqliteFailure =>
  error instanceof Error && typeof (error as Partial<SqliteFailure>).errcode === 'number'

/** An error of node:sqlite as a DatabaseError. Other errors are returned unchanged. */
export function sqliteError(error: unknown): unknown {
  if (isFailure(error)) return new DatabaseError(faultOf(error), error)
  const isClosed = error instanceof Error && (error as { code?: unknown }).code === 'ERR_INVALID_STATE'
  return isClosed ? new DatabaseError({ kind: 'lost' }, error) : error
}

function faultOf({ errcode, message, table }: SqliteFailure): DatabaseErrorKind {
  switch (errcode) {
    case codes.unique:
    case codes.primaryKey:
    case codes.rowid:
      return uniqueFault(message, table)
    case codes.foreignKey:
      return { kind: 'foreignKey' }
    case codes.restricted:
      return message.startsWith('FOREIGN KEY') ? { kind: 'foreignKey' } : { kind: 'value' }
    case codes.notNull:
      return { kind: 'notNull', ...columnIn(message.slice(message.indexOf(': ') + 2)) }
    case codes.check:
      return { kind: 'value' }
    case codes.error:
      if (tooComplex.test(message)) return { kind: 'complex' }
      if (refused.test(message)) return { kind: 'refused' }
      if (message === 'malformed JSON') return { kind: 'value', isOfRow: true }
      return { kind: missing.test(message) ? 'missing' : 'unknown' }
    default:
      return { kind: primary[errcode & 0xff] ?? 'unknown' } as DatabaseErrorKind
  }
}

/** `UNIQUE constraint failed: pet.name, pet.owner`, or `index 'pet_lower'` */
function uniqueFault(message: string, tableOfIndex: string | undefined): DatabaseErrorKind {
  const names = message
    .slice(message.indexOf(': ') + 2)
    .split(', ')
    .map(columnIn)
  return { kind: 'unique', table: tableOfIndex ?? names[0]?.table, columns: names.map(({ column }) => column) }
}

/** The index over an expression that is violated. */
export function violatedIndex(error: unknown): string | undefined {
  if (!isFailure(error) || error.errcode !== codes.unique) return undefined
  return /: index '(.*)'$/s.exec(error.message)?.[1]?.replaceAll("''", "'")
}

function columnIn(name: string): { readonly table: string | undefined; readonly column: string } {
  const dot = name.lastIndexOf('.')
  return { table: dot === -1 ? undefined : name.slice(0, dot), column: name.slice(dot + 1) }
}

export const isBusy = (error: unknown): boolean =>
  isFailure(error) && ((error.errcode & 0xff) === busy || (error.errcode & 0xff) === locked)

/** A constraint or a trigger refused the statement. */
export const isConstraint = (error: unknown): boolean => isFailure(error) && (error.errcode & 0xff) === constraint

/** A value, or what is made of values, is longer than the connection allows. */
export const isTooBig = (error: unknown): boolean => isFailure(error) && (error.errcode & 0xff) === tooBig

/** An integer beyond 2^53 was read as a number. The same statement can be read again as big integers. */
export const isOutOfRange = (error: unknown): boolean =>
  error instanceof Error && (error as { code?: unknown }).code === 'ERR_OUT_OF_RANGE'

/** SQLite does not say which file it cannot open, read or write. */
export function namedError(path: string, error: unknown, hint?: string): unknown {
  if (!(error instanceof DatabaseError)) return error
  if (isFolder(path)) return new DatabaseError(error.reason, new Error(`${path} is a folder`, { cause: error.cause }))
  const named = error.message.includes(path) ? error.message : `${path}: ${error.message}`
  const message = hint === undefined ? named : `${named}; ${hint}`
  return new DatabaseError(error.reason, new Error(message, { cause: error.cause }))
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
