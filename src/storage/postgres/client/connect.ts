import type * as pg from 'pg'
import type { DatabaseError } from '../../driver.ts'
import { Connection } from './connection.ts'
import { textQueries } from './text-query.ts'

/** Settings of one connection, independent of the defaults of server, database and role. */
export interface Session {
  readonly statementTimeoutMs: number
  readonly lockTimeoutMs?: number
  /** JIT compilation; off for statements that end before it pays. */
  readonly compiles?: boolean
}

export type Connect = (session: Session) => Promise<Connection>

/** A connection attempt fails after this time. */
const connectTimeoutMs = 5_000

/** The text form of values depends on these settings; the decoder knows one form of each. */
const textForms = [
  "set timezone = 'UTC'",
  "set datestyle = 'ISO, MDY'",
  "set intervalstyle = 'postgres'",
  "set bytea_output = 'hex'",
  'set extra_float_digits = 1',
  'set standard_conforming_strings = on',
]

/** Loads `pg` and opens connections with it. Throws when it is missing or too old. */
export async function connector(url: string, explain: (error: unknown) => DatabaseError): Promise<Connect> {
  const { Client, Query } = await loadPg()
  const makeQuery = textQueries(Query)
  return async (session) => {
    const client = new Client({
      connectionString: url,
      pipeline: true,
      keepAlive: true,
      connectionTimeoutMillis: connectTimeoutMs,
      fallback_application_name: 'keelson',
    })
    if (!client.pipeline) throw new Error('PostgreSQL needs the package "pg" in version 8.23 or newer: npm install pg')
    const connection = new Connection({ client, makeQuery, explain })
    try {
      await client.connect()
      const timer = setTimeout(() => connection.destroy(new Error('The server does not answer')), connectTimeoutMs)
      const script = connection.run({ text: settings(session), values: [], how: 'several' })
      const [[processId] = []] = await script.finally(() => clearTimeout(timer))
      connection.processId = Number(processId)
      return connection
    } catch (error) {
      const failure = explain(error)
      connection.destroy(failure)
      throw failure
    }
  }
}

const settings = ({ statementTimeoutMs, lockTimeoutMs = 0, compiles = true }: Session): string =>
  [
    ...textForms,
    `set statement_timeout = ${Math.trunc(statementTimeoutMs)}`,
    `set lock_timeout = ${Math.trunc(lockTimeoutMs)}`,
    // A transaction awaits only its own statements, so an idle one belongs to a stopped program.
    'set idle_in_transaction_session_timeout = 60000',
    ...(compiles ? [] : ['set jit = off']),
    // Several processes for one scan would take the processors from the lookups of others.
    'set max_parallel_workers_per_gather = 0',
    'select pg_backend_pid()',
  ].join('; ')

async function loadPg(): Promise<typeof pg> {
  try {
    return await import('pg')
  } catch (error) {
    throw new Error('PostgreSQL needs the package "pg": npm install pg', { cause: error })
  }
}
