import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

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

const sqlite: DatabaseKind = {
  name: 'sqlite',
  missing: undefined,
  async open() {
    const folder = await mkdtemp(join(tmpdir(), 'keelson-'))
    return {
      url: `sqlite:${join(folder, 'zoo.db')}`,
      [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
    }
  },
}

const postgres: DatabaseKind = {
  name: 'postgres',
  missing: existsSync(new URL('postgres.ts', import.meta.url)) ? undefined : 'test/postgres.ts is not there',
  async open() {
    throw new Error('not yet')
  },
}

export const databases: readonly DatabaseKind[] = [memory, sqlite, postgres]
