import { ConfigError } from '../../../model/config-error.ts'
import type { Connection } from './connection.ts'

/** A pooler may happen to give the same process again. */
const attempts = 3

/**
 * Throws when a pooler serves the transactions of one connection by changing processes of the server. Settings and prepared
 * statements belong to a process: a statement might even be executed in place of one that another client has prepared.
 */
export async function assertSessionPooling(connection: Connection, open: () => Promise<Connection>): Promise<void> {
  // Without a pooler, the connection was told the number of its process.
  if (connection.announcedProcessId === connection.processId) return
  for (let attempt = 0; attempt < attempts; attempt++) {
    const before = await processOf(connection)
    const other = await open()
    try {
      await other.run({ text: 'begin', values: [], how: 'several' })
      if ((await processOf(other)) === before || (await processOf(connection)) !== before) throw changesProcesses()
    } finally {
      await other.close()
    }
  }
}

const processOf = async (connection: Connection): Promise<unknown> =>
  (await connection.run({ text: 'select pg_backend_pid()', values: [], how: 'several' }))[0]?.[0]

const changesProcesses = (): ConfigError =>
  new ConfigError([
    'database: the pooler in front of PostgreSQL pools transactions or statements; the connections of a service need sessions ("pool_mode = session" in PgBouncer)',
  ])
