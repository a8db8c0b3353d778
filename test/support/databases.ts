import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isCovered } from './covered.ts'
import { freshDatabase, missingPostgres, postgresForTests, type TestPostgres } from './postgres.ts'

/** An empty database, deleted on disposal. */
export interface TestDatabase extends AsyncDisposable {
  readonly url: string
}

export interface DatabaseKind {
  readonly name: string
  /** The reason to skip it; undefined when it is available. */
  readonly missing: string | undefined
  open(): Promise<TestDatabase>
}

const memory: DatabaseKind = {
  name: 'memory',
  missing: undefined,
  open: async () => ({ url: 'memory:', async [Symbol.asyncDispose]() {} }),
}

/** Files in shared memory where possible: most of the time would be spent waiting for the disk. */
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

/** One server for all tests of a process; it stops when the process exits. */
let server: Promise<TestPostgres> | undefined

const postgres: DatabaseKind = {
  name: 'postgres',
  missing: missingPostgres,
  async open() {
    server ??= postgresForTests()
    return freshDatabase((await server).url)
  },
}

const all = { memory, sqlite, postgres } as const

/** For a test that needs this one, whatever `KEELSON_TEST_DATABASES` names. */
export const databaseNamed = (name: keyof typeof all): DatabaseKind => all[name]

/** Every supported database; those that `KEELSON_TEST_DATABASES=sqlite,postgres` names, where it is set. */
export const databases: readonly DatabaseKind[] = Object.values(all).filter(({ name }) => isCovered(name))
