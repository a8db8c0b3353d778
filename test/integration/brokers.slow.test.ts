import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { Command, type CommandOptions } from '../support/command.ts'
import { hidingPooler } from '../support/hiding-pooler.ts'
import { LiveTestClient } from '../support/live-client.ts'
import { freshDatabase, missingPostgres, postgresForTests } from '../support/postgres.ts'
import {
  caOf,
  missingProgram,
  nats,
  natsWithTls,
  pgBouncer,
  redis,
  redisWithTls,
  type StartedServer,
} from './brokers/servers.ts'

/*
 * Two services, each a process of its own, on one database: what is written at one reaches the live client of the other.
 * A pooler hides the notifications of the server, and neither service polls, so that only the broker tells of a write.
 */

const config = join(import.meta.dirname, 'brokers', 'keelson.config.ts')
const server = missingPostgres ? undefined : await postgresForTests()
after(() => server?.stop())
const missingRedis = missingPostgres ?? missingProgram('redis-server')
const missingNats = missingPostgres ?? missingProgram('nats-server')
const missingBouncer = missingPostgres ?? missingProgram('pgbouncer')

interface BrokerCase {
  readonly name: string
  readonly missing: string | undefined
  readonly start: () => Promise<StartedServer>
  readonly url: (port: number) => string
  readonly isTls?: true
}

const brokers: readonly BrokerCase[] = [
  { name: 'Redis', missing: missingRedis, start: () => redis(), url: (port) => `redis://127.0.0.1:${port}` },
  {
    name: 'Redis with a password',
    missing: missingRedis,
    start: () => redis('--requirepass', 's3c/r@t'),
    url: (port) => `redis://:s3c%2Fr%40t@127.0.0.1:${port}`,
  },
  {
    name: 'Redis with a user that may use its channel only',
    missing: missingRedis,
    start: () => redis('--user', 'default', 'off', '--user', 'app', 'on', '>s3cret', '&keelson.*', '+@all'),
    url: (port) => `redis://app:s3cret@127.0.0.1:${port}`,
  },
  {
    name: 'Redis with TLS and a password',
    missing: missingRedis,
    start: () => redisWithTls('--requirepass', 's3cret'),
    url: (port) => `rediss://:s3cret@127.0.0.1:${port}`,
    isTls: true,
  },
  { name: 'NATS', missing: missingNats, start: () => nats(), url: (port) => `nats://127.0.0.1:${port}` },
  {
    name: 'NATS with user and password',
    missing: missingNats,
    start: () => nats('--user', 'app', '--pass', 's3c/r@t'),
    url: (port) => `nats://app:s3c%2Fr%40t@127.0.0.1:${port}`,
  },
  {
    name: 'NATS with a token',
    missing: missingNats,
    start: () => nats('--auth', 's3cret'),
    url: (port) => `nats://s3cret@127.0.0.1:${port}`,
  },
  {
    name: 'NATS with TLS',
    missing: missingNats,
    start: () => natsWithTls(),
    url: (port) => `nats://127.0.0.1:${port}`,
    isTls: true,
  },
]

describe('two services on a database whose notifications are hidden', () => {
  for (const { name, missing, start, url, isTls } of brokers)
    test(name, { skip: missing ?? false, timeout: 120_000 }, async () => {
      await using broker = await start()
      await using database = await freshDatabase(server?.url as string)
      await using pooler = await hidingPooler(database.url)
      const env = { BROKER: url(broker.port), ...(isTls && { NODE_EXTRA_CA_CERTS: await caOf(broker) }) }
      await writeAcross(pooler.url, env)
      assert.ok(pooler.hidden > 0, 'the server has sent notifications')
    })
})

describe('PgBouncer', { skip: missingBouncer ?? false }, () => {
  test('in session mode, notifications arrive without a broker', { timeout: 120_000 }, async () => {
    await using database = await freshDatabase(server?.url as string)
    await using bouncer = await pgBouncer(database.url, 'session')
    await writeAcross(through(bouncer, database.url), {})
  })

  test('in transaction mode, a start is refused', { timeout: 120_000 }, async () => {
    await using database = await freshDatabase(server?.url as string)
    await using bouncer = await pgBouncer(database.url, 'transaction')
    const { code, stderr } = await serve(through(bouncer, database.url), {}).ended
    assert.equal(code, 78)
    assert.match(stderr, /the pooler in front of PostgreSQL pools transactions/)
  })
})

function through({ port }: StartedServer, databaseUrl: string): string {
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${port}`
  return String(url)
}

const serve = (database: string, env: NonNullable<CommandOptions['env']>): Command =>
  new Command(['start', '--config', config, '--port', '0', '--database', database], { env })

/** Each of two services tells its live client, which has a query of each kind, of what is written at the other. */
async function writeAcross(database: string, env: NonNullable<CommandOptions['env']>): Promise<void> {
  const first = serve(database, env)
  const second = serve(database, env)
  const commands = [first, second]
  const urls = [await first.url(), await second.url()] as const
  const clients: LiveTestClient[] = []
  for (const url of urls)
    clients.push(
      await LiveTestClient.open(url, {
        local: { model: 'pet', where: { name: { startsWith: 'R' } } },
        window: { model: 'pet', sort: 'name', limit: 3, populate: ['owner'] },
      }),
    )
  for (const client of clients) await client.until(() => client.held.size === 2)
  for (let round = 0; round < 6; round++) {
    const [writer, reader] = round % 2 === 0 ? [0, 1] : ([1, 0] as const)
    const name = `R${round}`
    const response = await fetch(`${urls[writer]}/pet`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    })
    assert.equal(response.status, 201, await response.text())
    const token = response.headers.get('keelson-operation') ?? assert.fail('no token')
    const client = clients[reader] as LiveTestClient
    await client.until(() => client.rows('local')?.some((row) => row.name === name) ?? false)
    await client.until(() => client.operations.has(token))
    assert.equal(client.rows('window')?.length, Math.min(round + 1, 3))
  }
  for (const client of clients) await client.close()
  for (const command of commands) command.kill('SIGTERM')
  for (const command of commands) {
    const { code, stderr } = await command.ended
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  }
}
