import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { startPostgres } from './embedded-postgres.ts'

export interface TestPostgres {
  /** Of a database to connect to; tests make their own. */
  readonly url: string
  readonly kind: 'server' | 'embedded'
  stop(): Promise<void>
}

const given = process.env.KEELSON_TEST_POSTGRES

/** Why there is none; undefined where there is one, or where it can be started. */
export const missingPostgres: string | undefined =
  given === 'none' || given === '' ? 'KEELSON_TEST_POSTGRES names no server' : undefined

/** The server that KEELSON_TEST_POSTGRES names; where it is not set, one that lives as long as these tests. */
export async function postgresForTests(): Promise<TestPostgres> {
  if (missingPostgres !== undefined) throw new Error(missingPostgres)
  if (given !== undefined) return { url: given, kind: 'server', stop: async () => {} }
  const { url, stop } = await startPostgres()
  // A test that fails or is ended before it stops the server must not leave it behind.
  process.once('exit', stop)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
  return {
    url,
    kind: 'embedded',
    async stop() {
      process.off('exit', stop)
      stop()
    },
  }
}

export interface FreshDatabase extends AsyncDisposable {
  readonly url: string
  /** As the server's own superuser, or whoever the tests connect as: a stranger to whatever is tested. */
  query(text: string, values?: readonly unknown[]): Promise<(string | null)[][]>
  /** A connection of a stranger's own. */
  connect(): Promise<Stranger>
}

export interface Stranger extends AsyncDisposable {
  /** Notifications that came, after a `listen`. */
  readonly heard: readonly string[]
  query(text: string, values?: readonly unknown[]): Promise<(string | null)[][]>
}

/** An empty database of its own, dropped with whoever is still connected to it. */
export async function freshDatabase(server: string): Promise<FreshDatabase> {
  const name = `keelson_test_${process.pid}_${randomBytes(4).toString('hex')}`
  await once(server, `create database ${name}`)
  const url = withPath(server, name)
  const strangers: Stranger[] = []
  const connect = async (): Promise<Stranger> => {
    const stranger = await connected(url)
    strangers.push(stranger)
    return stranger
  }
  let own: Promise<Stranger> | undefined
  return {
    url,
    connect,
    async query(text, values) {
      own ??= connect()
      return (await own).query(text, values)
    },
    async [Symbol.asyncDispose]() {
      for (const stranger of strangers) await stranger[Symbol.asyncDispose]()
      await once(server, `drop database if exists ${name} with (force)`)
    },
  }
}

async function connected(url: string): Promise<Stranger> {
  const types = { getTypeParser: () => (text: string) => text }
  const client = new pg.Client({ connectionString: url, types: types as unknown as pg.CustomTypesConfig })
  client.on('error', () => {}) // the test that ends it knows
  const heard: string[] = []
  client.on('notification', ({ payload }) => heard.push(payload ?? ''))
  await client.connect()
  return {
    heard,
    async query(text, values = []) {
      const { rows } = await client.query({ text, values: [...values], rowMode: 'array' })
      return rows as (string | null)[][]
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}

async function once(url: string, text: string): Promise<void> {
  await using stranger = await connected(url)
  await stranger.query(text)
}

function withPath(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return String(changed)
}
