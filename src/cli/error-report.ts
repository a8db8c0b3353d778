import { ConfigError } from '../model/config-error.ts'
import { DatabaseError } from '../storage/driver.ts'
import { CommandError, type ExitCode, exitCode, UsageError } from './command.ts'
import { LoadError } from './load-error.ts'
import { SchemaChangedError } from './schema-changed-error.ts'

/** A failure as it is printed: a message, the problems behind it, advice and the exit code. */
export interface ErrorReport {
  readonly message: string
  readonly problems: readonly string[]
  readonly advice?: string | undefined
  readonly code: ExitCode
}

/** A failure that a worker process has reported. */
export class WorkerError extends Error {
  readonly report: ErrorReport

  constructor(report: ErrorReport) {
    super(report.message)
    this.name = 'WorkerError'
    this.report = report
  }
}

/** Translates an error to its report. A `ConfigError` lists all of its problems. */
export function reportOf(error: unknown): ErrorReport {
  if (error instanceof WorkerError) return error.report
  if (error instanceof SchemaChangedError) {
    const report = reportOf(error.cause)
    return { ...report, problems: [...report.problems, `The schema was changed before: ${error.changes}`] }
  }
  if (error instanceof UsageError) {
    const { message, advice } = error
    return { message, problems: [], advice, code: exitCode.wrongUsage }
  }
  if (error instanceof ConfigError) {
    const { problems } = error
    const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`
    return { message: `The configuration has ${count}`, problems, code: exitCode.wrongConfig }
  }
  if (error instanceof LoadError) {
    const { message, details, advice } = error
    return { message, problems: details, advice, code: exitCode.wrongConfig }
  }
  if (error instanceof CommandError) return { message: error.message, problems: [], code: exitCode.failure }
  const message = error instanceof DatabaseError ? `The database cannot be used: ${reasonOf(error)}` : reasonOf(error)
  return { message, problems: [], advice: adviceFor(error), code: exitCode.failure }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const network = error instanceof DatabaseError ? networkReason(error.cause) : undefined
  if (network !== undefined) return network
  // An AggregateError (a connection that was tried at several addresses) has an empty message.
  const [first] = error instanceof AggregateError ? error.errors : []
  const inner = error.message === '' ? (first ?? error.cause) : undefined
  return inner === undefined ? error.message || error.name : reasonOf(inner)
}

/** Why a connection to the database failed, if the operating system or DNS refused it. */
function networkReason(cause: unknown): string | undefined {
  const failure: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
  const { code, hostname, address, port } = (failure ?? {}) as Readonly<Record<string, unknown>>
  if (code === 'ECONNREFUSED' && address !== undefined) return `no server accepts connections at ${address}:${port}`
  if (code === 'ENOTFOUND' && hostname !== undefined) return `${hostname} is not a known host name`
  return undefined
}

function adviceFor(error: unknown): string {
  const { code, syscall } = error as { readonly code?: unknown; readonly syscall?: unknown }
  if (code === 'EADDRINUSE') return '--port 0 selects a free port.'
  if (code === 'EADDRNOTAVAIL' || (code === 'ENOTFOUND' && syscall === undefined))
    return '--host 127.0.0.1 accepts connections from this machine, and 0.0.0.0 from others, too.'
  if (error instanceof DatabaseError && error.reason.kind === 'full')
    return 'Free space on the disk of the database, and start again.'
  if (error instanceof DatabaseError && isMissing(error))
    return 'createdb, a program of PostgreSQL, creates it. --database, DATABASE_URL or `database` of the configuration names another, in this order.'
  if (error instanceof DatabaseError && isOutOfConnections(error))
    return 'A process opens up to 41 connections: raise `max_connections` of the server, start fewer processes, or use a pooler.'
  if (error instanceof DatabaseError)
    return '--database, DATABASE_URL or `database` of the configuration names the database, in this order. --verbose prints the stack trace.'
  return '--verbose prints the stack trace.'
}

/** Whether PostgreSQL has no database of this name. */
const isMissing = ({ cause }: DatabaseError): boolean => (cause as { readonly code?: unknown }).code === '3D000'

/** Whether PostgreSQL refuses further connections to the server, to the database, or of the role. */
const isOutOfConnections = ({ cause }: DatabaseError): boolean =>
  (cause as { readonly code?: unknown }).code === '53300'
