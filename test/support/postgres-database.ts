import { after } from 'node:test'
import { type FreshDatabase, freshDatabase, missingPostgres, postgresForTests } from './postgres.ts'

/** Skips tests where there is no server. */
export const withPostgres = { skip: missingPostgres ?? false }

const server = missingPostgres ? undefined : await postgresForTests()
after(() => server?.stop())

/** A database on the server of this test file. */
export const emptyDatabase = (): Promise<FreshDatabase> => freshDatabase(server?.url as string)
