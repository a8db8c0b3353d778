import { DatabaseError, type DatabaseErrorKind } from '../driver.ts'

/** An error of the server; `routine` is the source function that raised it, in every locale. */
interface Complaint {
  readonly code: string
  readonly message: string
  readonly detail?: string
  readonly table?: string
  readonly column?: string
  readonly constraint?: string
  readonly routine?: string
  /** Where it happened, the innermost place first. */
  readonly where?: string
}

/** The columns of each unique constraint or index by its name, because the server's detail text is localized. */
export type UniqueColumns = ReadonlyMap<string, readonly string[]>

/** Codes of https://www.postgresql.org/docs/current/errcodes-appendix.html that differ from their class. */
const faults: Readonly<Record<string, DatabaseErrorKind>> = {
  '23514': { kind: 'value' }, // check
  '23P01': { kind: 'value' }, // exclusion
  '25006': { kind: 'refused' }, // read only
  '40001': { kind: 'busy' }, // serialization
  '40P01': { kind: 'busy' }, // deadlock
  '42703': { kind: 'missing' }, // column
  '42P01': { kind: 'missing' }, // table
  '53100': { kind: 'full' }, // disk full
  '54001': { kind: 'complex' }, // statement too complex
  '55006': { kind: 'busy' }, // object in use
  '55P03': { kind: 'busy' }, // lock not available
  '57014': { kind: 'timeout' }, // cancelled
}

/** In a trigger: a column, a function, a table, a type or a result that its function lacks. */
const brokenFunctions: ReadonlySet<string> = new Set(['42703', '42883', '42P01', '42804', '2F005'])

/**
 * Whether this routine of the server refuses to write a view, the second since PostgreSQL 17, or a materialized view or a foreign
 * table.
 */
const refusesWrites = (routine = ''): boolean =>
  ['rewriteTargetView', 'error_view_not_updatable'].includes(routine) || routine.startsWith('CheckValidResultRel')

/** By the class, the first two characters. */
const classes: Readonly<Record<string, DatabaseErrorKind>> = {
  '08': { kind: 'lost' }, // connection
  '22': { kind: 'value' }, // data
  '28': { kind: 'refused' }, // authorization
  '3D': { kind: 'refused' }, // no such database
  '44': { kind: 'value' }, // against the condition of a view
  '53': { kind: 'busy' }, // out of memory, too many connections
  '54': { kind: 'value' }, // too large, as a value for its index is
  '57': { kind: 'lost' }, // shutting down, starting up, session ended
  '58': { kind: 'lost' }, // input or output failed
  P0: { kind: 'value' }, // a trigger raises, or finds no row
}

/** An error of `pg` as a DatabaseError. */
export function postgresError(error: unknown, uniques: UniqueColumns = new Map()): DatabaseError {
  if (error instanceof DatabaseError) return error
  return new DatabaseError(isComplaint(error) ? faultOf(error, uniques) : { kind: 'lost' }, error)
}

/** Errors of the server have a code of five characters; all others concern the connection. */
const isComplaint = (error: unknown): error is Complaint =>
  error instanceof Error && /^[0-9A-Z]{5}$/.test((error as Partial<Complaint>).code ?? '') && 'severity' in error

function faultOf(complaint: Complaint, uniques: UniqueColumns): DatabaseErrorKind {
  const { code, table, column, constraint, routine, where } = complaint
  const parameter = parameterOf(complaint)
  if (parameter !== undefined && !isOfServer(code)) return { kind: 'value', parameter }
  const isOfTrigger = where !== undefined
  if (isOfTrigger && brokenFunctions.has(code)) return { kind: 'refused' }
  switch (code) {
    case '23505':
      return { kind: 'unique', table, columns: uniques.get(constraint ?? '') ?? named(complaint), isOfTrigger }
    case '23001': // `on delete restrict`, since PostgreSQL 18
    case '23503':
      return { kind: 'foreignKey', table, columns: named(complaint) }
    case '23502':
      return { kind: 'notNull', table, column: column ?? '', isOfTrigger }
    case '23514':
      return { kind: 'value', column }
    case '22021':
      // What a service sends is valid Unicode: a database without an encoding contains a text that is not.
      return { kind: isOfTrigger ? 'value' : 'refused' }
    case '428C9':
      return { kind: 'generated', column: quotedIn(complaint.message) }
    case '55000':
      if (refusesWrites(routine) && !isOfTrigger) return { kind: 'onlyRead' }
      // `on conflict` cannot use a deferrable constraint; the other errors of this code are about no constraint.
      return constraint === undefined ? { kind: 'refused' } : { kind: 'deferrable', constraint }
    case '42809':
      return { kind: refusesWrites(routine) && !isOfTrigger ? 'onlyRead' : 'refused' }
    case '42601':
      // The parser of statements reports its errors in `scanner_yyerror`; others are of the text of a value, from the input function of its type.
      return { kind: routine === 'scanner_yyerror' ? 'unknown' : 'value' }
    case '0A000':
      // A rule replaces the statement, and answers no row.
      return { kind: routine === 'RewriteQuery' ? 'refused' : 'unknown' }
    case '42883':
      // The type of a column has no such comparison or order.
      return { kind: routine === 'op_error' || routine === 'get_sort_group_operators' ? 'value' : 'unknown' }
    case '42501':
      // A row that a policy does not allow, and not a missing privilege.
      return { kind: routine === 'ExecWithCheckOptions' ? 'value' : 'refused' }
    default:
      // A trigger may raise with any code, also one of its own.
      return faults[code] ?? classes[code.slice(0, 2)] ?? { kind: routine === 'exec_stmt_raise' ? 'value' : 'unknown' }
  }
}

/**
 * The number of the bound value that the input function of its type has refused. Such a function raises any code: that of a
 * missing table for a `regclass`, of a function for a `regproc`, an internal error for an `hstore`. All translations of
 * "unnamed portal parameter $2 = '...'", the outermost place, end so.
 */
function parameterOf({ where = '' }: Complaint): number | undefined {
  const number = /\$(\d+)(?: = '.*)?$/.exec(where.slice(where.lastIndexOf('\n') + 1))?.[1]
  return number === undefined ? undefined : Number(number)
}

/** The server itself could not go on, whatever it was doing. */
const isOfServer = (code: string): boolean =>
  ['busy', 'full', 'timeout', 'lost'].includes((faults[code] ?? classes[code.slice(0, 2)])?.kind ?? '')

/** `cannot insert a non-DEFAULT value into column "id"`: in no other field, and between the quotes of the locale. */
const quotedIn = (message: string): string => /["«»„“‚‘’]\s?([^"«»„“‚‘’]+?)\s?["«»„“‚‘’]/u.exec(message)?.[1] ?? ''

/** `Key (name, "the owner")=(Rex, 5) already exists.` */
function named({ detail = '' }: Complaint): readonly string[] {
  const list = /\((.*?)\)=\(/s.exec(detail)?.[1] ?? ''
  const names = list.match(/"(?:[^"]|"")*"|[^," ][^,]*/g) ?? []
  return names.map((name) => (name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name))
}

const complaintOf = (error: unknown): Complaint | undefined => {
  const cause = error instanceof DatabaseError ? error.cause : error
  return isComplaint(cause) ? cause : undefined
}

/** A conflict of two transactions, and this one was rolled back. */
export const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(complaintOf(error)?.code ?? '')

/** The conflict that ends while the other transaction goes on. */
export const isDeadlock = (error: unknown): boolean => complaintOf(error)?.code === '40P01'

/** The statement has waited for a lock for too long; it was not executed. */
export const isLocked = (error: unknown): boolean => complaintOf(error)?.code === '55P03'

/** The statement exceeded its time or lock limit; it was not executed. */
export const isOverdue = (error: unknown): boolean => isLocked(error) || complaintOf(error)?.code === '57014'

/** The prepared statement is outdated or gone; it was not executed. */
export function isStale(error: unknown): boolean {
  const complaint = complaintOf(error)
  return complaint?.code === '26000' || complaint?.routine === 'RevalidateCachedQuery'
}

export const isLost = (error: unknown): boolean => error instanceof DatabaseError && error.reason.kind === 'lost'

/** The rows have more bytes than the request may read. */
export const isLarge = (error: unknown): boolean => error instanceof DatabaseError && error.reason.kind === 'large'
