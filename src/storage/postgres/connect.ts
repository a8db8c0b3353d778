import type * as pg from 'pg'
import type { DatabaseError } from '../driver.ts'
import { Connection } from './connection.ts'
import { textQueries } from './text-query.ts'

/** How one connection is set up, whatever the server, the database or the user have as their defaults. */
export interface Session {
  readonly statementTimeoutMs: number
  readonly lockTimeoutMs?: number
  /** Short statements are over before their code is compiled. */
  readonly compiles?: boolean
}

export type Connect = (session: Session) => Promise<Connection>

/** A server that does not answer in this time is not there. */
const connectTimeoutMs = 5_000

/** The value's text form depends on these; the decoder knows one form of each. */
const textForms = [
  "set timezone = 'UTC'",
  "set datestyle = 'ISO, MDY'",
  "set intervalstyle = 'postgres'",
  "set bytea_output = 'hex'",
  'set extra_float_digits = 1',
  'set standard_conforming_strings = on',
]

/** Loads `pg` and makes connections with it. Throws when it is missing or too old. */
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
      await connection.run({ text: settings(session), values: [], how: 'several' }).finally(() => clearTimeout(timer))
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
    // A transaction waits for nothing but its own statements; one that does is held by a program that has stopped.
    'set idle_in_transaction_session_timeout = 60000',
    ...(compiles ? [] : ['set jit = off']),
  ].join('; ')

async function loadPg(): Promise<typeof pg> {
  try {
    return await import('pg')
  } catch (error) {
    throw new Error('PostgreSQL needs the package "pg": npm install pg', { cause: error })
  }
}
