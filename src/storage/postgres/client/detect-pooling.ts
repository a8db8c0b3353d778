import { ConfigError } from '../../../model/config-error.ts'
import type { DatabaseError } from '../../driver.ts'
import type { Connect } from './connect.ts'
import type { Connection } from './connection.ts'
import { begin } from './transact.ts'

/** With each attempt one more process is kept from the connection, in case the pooler uses them by turns. */
const attempts = 3
/** A process that serves the connection alone answers sooner, and without a limit a full pool would be waited for. */
const answerMs = 2_000

/** In a URL, as Prisma reads it: for a pooler that cannot be recognized. */
const isDeclared = (url: string): boolean => URL.canParse(url) && new URL(url).searchParams.get('pgbouncer') === 'true'

/**
 * Whether a pooler may serve each transaction of a connection by another process of the server. Settings, prepared statements,
 * locks and LISTEN belong to a process: a statement might even be executed in place of one that another client has prepared.
 */
export async function poolsTransactions(url: string, connect: Connect): Promise<boolean> {
  if (isDeclared(url)) return true
  const connection = await connect()
  const opened = [connection]
  try {
    // Without a pooler, the connection has received the number of its process.
    if (connection.announcedProcessId === connection.processId) return false
    for (let attempt = 0; attempt < attempts; attempt++) {
      const before = await processOf(connection)
      const other = await connect()
      opened.push(other)
      await other.run(begin).catch(refuseStatementPooling)
      if ((await processOf(other)) === before || (await soon(processOf(connection))) !== before) return true
    }
    return false
  } finally {
    await Promise.all(opened.map((each) => (each.pending > 0 ? each.destroy(new Error('unused')) : each.close())))
  }
}

const processOf = async (connection: Connection): Promise<unknown> =>
  (await connection.run({ text: 'select pg_backend_pid()', values: [], how: 'several' }))[0]?.[0]

async function soon<T>(answer: Promise<T>): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, answerMs, undefined)
  return Promise.race([answer.catch(() => undefined), promise]).finally(() => clearTimeout(timer))
}

function refuseStatementPooling(error: DatabaseError): never {
  if (!/statement pooling/.test(error.message)) throw error
  throw new ConfigError([
    'database: the pooler in front of PostgreSQL pools statements, so that no transaction is possible; it must pool transactions or sessions ("pool_mode = transaction" or "pool_mode = session" in PgBouncer)',
  ])
}
