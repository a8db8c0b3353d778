import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { DatabaseError, type DatabaseErrorKind, type Statement } from '../../src/storage/driver.ts'
import { connector } from '../../src/storage/postgres/client/connect.ts'
import { type DriverParts, PostgresDriver } from '../../src/storage/postgres/client/driver.ts'
import { postgresError } from '../../src/storage/postgres/errors.ts'
import { defaultLimits, type Limits } from '../../src/support/limits.ts'
import type { FreshDatabase } from './postgres.ts'
import { emptyDatabase, withPostgres } from './postgres-database.ts'
import { type UnreliableNetwork, unreliableNetwork } from './unreliable-network.ts'

/** A driver over a network that can fail, on a database with a table `t` of 100 rows. */
export interface OpenedDriver extends AsyncDisposable {
  readonly database: FreshDatabase
  readonly network: UnreliableNetwork
  readonly driver: PostgresDriver
  readonly commits: () => number
}

export type OpenDriver = (
  limits?: Partial<Limits>,
  parts?: Partial<Pick<DriverParts, 'watchdogTiming' | 'onScan'>>,
) => Promise<OpenedDriver>

const table = `create table t (id int primary key, n int not null default 0, name text unique);
  insert into t (id, name) select i, 'name ' || i from generate_series(1, 100) i`
export const byKey = 'select id, n from t where id = $1::int8'
export const increment = 'update t set n = n + 1 where id = $1::int8 returning n'

export const statement = (text: string, values: readonly unknown[]): Statement => ({ text, values, access: 'filter' })

export const kindOf = (kind: DatabaseErrorKind['kind']) => (error: unknown) => {
  assert.ok(error instanceof DatabaseError, String(error))
  assert.equal(error.reason.kind, kind, String(error.cause))
  return true
}

/** The server processes of the driver. */
export const sessions = (database: FreshDatabase) =>
  database.query(
    `select pid, query from pg_stat_activity where datname = current_database() and application_name = 'keelson'`,
  )

/** Defines the tests for plain connections, and again for those to a pooler of transactions. */
export function testPostgresDriver(tests: (open: OpenDriver, isPooled: boolean) => void): void {
  describe('PostgresDriver', withPostgres, () => tests(openWith(false), false))
  // No pooler is needed: the statements of such connections may run in any process of the server, also all in one.
  describe('PostgresDriver for a pooler of transactions', withPostgres, () => tests(openWith(true), true))
}

const openWith =
  (isPooled: boolean): OpenDriver =>
  async (limits = {}, parts = {}) => {
    const database = await emptyDatabase()
    await database.query(table)
    const network = await unreliableNetwork(database.url)
    const connect = await connector(network.url, (error) => postgresError(error), isPooled)
    let commits = 0
    const driver = new PostgresDriver({
      connect,
      isPooled,
      limits: { ...defaultLimits, ...limits },
      committed: () => commits++,
      ...parts,
    })
    return {
      database,
      network,
      driver,
      commits: () => commits,
      async [Symbol.asyncDispose]() {
        await driver[Symbol.asyncDispose]()
        await network[Symbol.asyncDispose]()
        await database[Symbol.asyncDispose]()
      },
    }
  }
