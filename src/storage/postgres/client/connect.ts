import type * as pg from 'pg'
import type { DatabaseError } from '../../driver.ts'
import { assertUrl } from './assert-url.ts'
import { Connection } from './connection.ts'
import { readDataRows } from './data-rows.ts'
import { PreparedStatements } from './prepared-statements.ts'
import { requestCancel } from './request-cancel.ts'
import { type Session, sessionScript, settingsOf } from './session-settings.ts'
import { textQueries } from './text-query.ts'
import { UnpreparedStatements } from './unprepared-statements.ts'

/** Opens a connection. Without `session`, no setting of the session is changed. */
export type Connect = (session?: Session) => Promise<Connection>

/** A connection attempt fails after this time. */
const connectTimeoutMs = 5_000

/**
 * Loads `pg` and opens connections with it. Throws when it is missing or too old, or the URL cannot be read. `isPooled`: a pooler may serve each
 * transaction of a connection by another process of the server.
 */
export async function connector(
  url: string,
  explain: (error: unknown) => DatabaseError,
  isPooled = false,
): Promise<Connect> {
  assertUrl(url)
  const { Client, Query } = await loadPg()
  const makeQuery = textQueries(Query)
  const makeClient = () =>
    new Client({
      connectionString: url,
      pipeline: true,
      keepAlive: true,
      connectionTimeoutMillis: connectTimeoutMs,
      fallback_application_name: 'keelson',
    })
  return async (session) => {
    const settings = session === undefined ? [] : settingsOf(session)
    const client = makeClient()
    if (!client.pipeline) throw new Error('PostgreSQL needs the package "pg" in version 8.23 or newer: npm install pg')
    const connection = new Connection({
      client,
      makeQuery,
      explain,
      statements: isPooled ? new UnpreparedStatements(settings) : new PreparedStatements(),
      isPooled,
      cancel: (client) => requestCancel(client, makeClient()),
    })
    try {
      await client.connect()
      readDataRows(client.connection)
      const timer = setTimeout(() => connection.destroy(new Error('The server does not answer')), connectTimeoutMs)
      const text = [...(isPooled || session === undefined ? [] : [sessionScript(settings)]), 'select pg_backend_pid()']
      const script = connection.run({ text: text.join('; '), values: [], how: 'several' })
      const [[processId] = []] = await script.finally(() => clearTimeout(timer))
      connection.processId = Number(processId)
      return connection
    } catch (error) {
      const failure = explain(isTimeout(error) ? new Error(`${client.host}:${client.port} does not answer`) : error)
      connection.destroy(failure)
      throw failure
    }
  }
}

/** The error of `pg`, which names no address. */
const isTimeout = (error: unknown): boolean => error instanceof Error && error.message === 'timeout expired'

async function loadPg(): Promise<typeof pg> {
  try {
    return await import('pg')
  } catch (error) {
    throw new Error('PostgreSQL needs the package "pg": npm install pg', { cause: error })
  }
}
