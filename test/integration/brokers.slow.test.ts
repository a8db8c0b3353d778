import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { hidingPooler } from '../support/hiding-pooler.ts'
import { freshDatabase, missingPostgres, postgresForTests } from '../support/postgres.ts'
import { writeAcross } from './brokers/across.ts'
import { caOf, missingProgram, nats, natsWithTls, redis, redisWithTls, type StartedServer } from './brokers/servers.ts'

/*
 * Two services, each a process of its own, on one database: what is written at one reaches the live client of the other.
 * A pooler hides the notifications of the server, and neither service polls, so that only the broker tells of a write.
 */

const server = missingPostgres ? undefined : await postgresForTests()
after(() => server?.stop())
const missingRedis = missingPostgres ?? missingProgram('redis-server')
const missingNats = missingPostgres ?? missingProgram('nats-server')

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
