import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freshDatabase, missingPostgres, postgresForTests, type TestPostgres } from './postgres.ts'

/** An empty database, gone when it is disposed of. */
export interface TestDatabase extends AsyncDisposable {
  readonly url: string
}

export interface DatabaseKind {
  readonly name: string
  /** Why it cannot be tested here; it is skipped with these words. */
  readonly missing: string | undefined
  open(): Promise<TestDatabase>
}

const memory: DatabaseKind = {
  name: 'memory',
  missing: undefined,
  open: async () => ({ url: 'memory:', async [Symbol.asyncDispose]() {} }),
}

/** Files that are no files where there are such: waiting for a disk proves nothing here, and takes most of the time. */
const folderForFiles = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

const sqlite: DatabaseKind = {
  name: 'sqlite',
  missing: undefined,
  async open() {
    const folder = await mkdtemp(join(folderForFiles, 'keelson-'))
    return {
      url: `sqlite:${join(folder, 'zoo.db')}`,
      [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
    }
  },
}

/** One server for all tests of a process; it stops when the process does. */
let server: Promise<TestPostgres> | undefined

const postgres: DatabaseKind = {
  name: 'postgres',
  missing: missingPostgres,
  async open() {
    server ??= postgresForTests()
    return freshDatabase((await server).url)
  },
}

/** Every database we can store records in. */
export const databases: readonly DatabaseKind[] = [memory, sqlite, postgres]
