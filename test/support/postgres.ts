import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { startPostgres } from './embedded-postgres.ts'

export interface TestPostgres {
  /** The maintenance database to connect to; tests create their own. */
  readonly url: string
  readonly kind: 'server' | 'embedded'
  stop(): Promise<void>
}

const given = process.env.KEELSON_TEST_POSTGRES

/** The reason why there is no server; undefined when one is named or can be started. */
export const missingPostgres: string | undefined =
  given === 'none' || given === '' ? 'KEELSON_TEST_POSTGRES names no server' : undefined

/** The server that KEELSON_TEST_POSTGRES names; when it is not set, one that is started for this process. */
export async function postgresForTests(): Promise<TestPostgres> {
  if (missingPostgres !== undefined) throw new Error(missingPostgres)
  if (given !== undefined) return { url: given, kind: 'server', stop: async () => {} }
  const { url, stop } = await startPostgres()
  // A test that fails or is killed must not leave the server running.
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
  /** Runs a statement outside of the service, as the user of the server's URL. */
  query(text: string, values?: readonly unknown[]): Promise<(string | null)[][]>
  /** Opens a connection outside of the service. */
  connect(): Promise<OtherProgram>
}

export interface OtherProgram extends AsyncDisposable {
  /** Payloads of the notifications received after a `listen`. */
  readonly notifications: readonly string[]
  query(text: string, values?: readonly unknown[]): Promise<(string | null)[][]>
}

/** An empty database, dropped on disposal together with its remaining connections. */
export async function freshDatabase(server: string): Promise<FreshDatabase> {
  const name = `keelson_test_${process.pid}_${randomBytes(4).toString('hex')}`
  await once(server, `create database ${name}`)
  const url = withPath(server, name)
  const otherPrograms: OtherProgram[] = []
  const connect = async (): Promise<OtherProgram> => {
    const otherProgram = await connected(url)
    otherPrograms.push(otherProgram)
    return otherProgram
  }
  let own: Promise<OtherProgram> | undefined
  return {
    url,
    connect,
    async query(text, values) {
      own ??= connect()
      return (await own).query(text, values)
    },
    async [Symbol.asyncDispose]() {
      for (const otherProgram of otherPrograms) await otherProgram[Symbol.asyncDispose]()
      await once(server, `drop database if exists ${name} with (force)`)
    },
  }
}

/** A connection outside of the service, to any URL. */
export async function connected(url: string): Promise<OtherProgram> {
  const types = { getTypeParser: () => (text: string) => text }
  const client = new pg.Client({ connectionString: url, types: types as unknown as pg.CustomTypesConfig })
  client.on('error', () => {}) // expected when a test ends the connection
  const notifications: string[] = []
  client.on('notification', ({ payload }) => notifications.push(payload ?? ''))
  await client.connect()
  return {
    notifications,
    async query(text, values = []) {
      const { rows } = await client.query({ text, values: [...values], rowMode: 'array' })
      return rows as (string | null)[][]
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}

async function once(url: string, text: string): Promise<void> {
  await using otherProgram = await connected(url)
  await otherProgram.query(text)
}

function withPath(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return String(changed)
}
