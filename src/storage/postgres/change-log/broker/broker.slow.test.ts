import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { after, describe, test } from 'node:test'
import { eventually } from '../../../../../test/support/eventually.ts'
import { freshDatabase, missingPostgres, postgresForTests } from '../../../../../test/support/postgres.ts'
import { openTestStore, type TestStore } from '../../../../../test/support/postgres-store.ts'
import { unreliableNetwork } from '../../../../../test/support/unreliable-network.ts'
import { createService } from '../../../../index.ts'
import { Broker, loadBroker } from './broker.ts'

const models = { pet: { attributes: { name: { type: 'string' } } } } as const
/** No poll during a test, so that only a message of the broker tells of a write. */
const pollMs = 3_600_000

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

const hasRedis = await answers(6379)
const server = missingPostgres ? undefined : await postgresForTests()
after(() => server?.stop())
const fresh = () => freshDatabase(server?.url as string)

for (const [scheme, port] of [
  ['redis', 6379],
  ['nats', 4222],
] as const) {
  const missing = missingPostgres ?? ((await answers(port)) ? undefined : `no server answers at 127.0.0.1:${port}`)
  const broker = `${scheme}://127.0.0.1:${port}`

  describe(`a broker at ${scheme}://`, { skip: missing ?? false }, () => {
    test('wakes another process whose LISTEN is lost, also after its connections were cut', async () => {
      await using network = await unreliableNetwork(broker)
      await using database = await fresh()
      const errors: unknown[] = []
      const options = { broker: network.url, pollMs, onError: (error: unknown) => errors.push(error) }
      await using writer = await openTestStore(database.url, models, options)
      await using reader = await openTestStore(database.url, models, options)
      let wakes = 0
      using _ = reader.store.changes.onChange(() => wakes++)
      await loseListen(database)
      const connections = await eventually(() => connected(network, scheme))
      await told(writer, 'Rex')

      await network.close()
      await eventually(() => errors.length === 2)
      await writer.insert('pet', { name: 'while the broker is away' })
      await network.open()
      await eventually(() => network.connections === connections)
      await told(writer, 'Tom')
      assert.equal(errors.length, 2, 'each process reports a loss once')
      for (const error of errors) assert.match(String(error), /^Error: The broker at 127\.0\.0\.1:\d+ is unavailable/)

      network.cut()
      await eventually(() => errors.length === 4)
      await eventually(() => network.connections === connections)
      await told(writer, 'Ada')

      /** Wakes after connecting come without a write: each round begins when there were none for a while. */
      async function told(by: TestStore, name: string): Promise<void> {
        for (let before = -1; before !== wakes; ) {
          before = wakes
          await new Promise((resolve) => setTimeout(resolve, 300))
        }
        const before = wakes
        await by.insert('pet', { name })
        await eventually(() => wakes > before)
      }
    })

    test('wakes processes on the same database only', async () => {
      const open = await loadBroker(broker)
      const start = (secret: string) => {
        const seen = { wakes: 0 }
        const parts = { url: broker, secret, self: randomUUID(), onError: assert.ifError, wake: () => seen.wakes++ }
        return { seen, broker: new Broker(parts, open) }
      }
      const secret = randomUUID()
      const other = start(randomUUID())
      const [reader, writer] = [start(secret), start(secret)]
      for (const { seen } of [other, reader, writer]) await eventually(() => seen.wakes > 0)
      const before = reader.seen.wakes
      await eventually(() => {
        writer.broker.publish()
        return reader.seen.wakes > before + 5
      })
      for (const each of [other, reader, writer]) await each.broker.close()
      assert.equal(other.seen.wakes, 1, 'only after its own connection')
    })
  })
}

describe('a broker that is away', { skip: missingPostgres ?? false }, () => {
  for (const scheme of ['redis', 'nats']) {
    test(`${scheme}: the service starts, writes and closes; the password is not reported`, async () => {
      await using database = await fresh()
      const errors: unknown[] = []
      const service = await createService({
        models,
        database: database.url,
        broker: `${scheme}://someone:s3cr%65t@127.0.0.1:1`,
        onError: (error) => errors.push(error),
      })
      await eventually(() => errors.length === 1)
      await service.system.records.pet.create({ name: 'Rex' })
      await new Promise((resolve) => setTimeout(resolve, 500))
      await service.close()
      assert.equal(errors.length, 1)
      assert.match(String(errors[0]), /The broker at 127\.0\.0\.1:1 is unavailable, and is tried again/)
      assert.doesNotMatch(inspected(errors[0]), /s3cr/)
    })
  }

  test('a password that the server refuses is not reported', {
    skip: hasRedis ? false : 'no server answers at 127.0.0.1:6379',
  }, async () => {
    await using database = await fresh()
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    await using _ = await openTestStore(database.url, models, {
      broker: 'redis://nobody:s3cret@127.0.0.1:6379',
      onError,
    })
    await eventually(() => errors.length === 1)
    assert.doesNotMatch(inspected(errors[0]), /s3cret/)
  })

  test('a password that an error of the library quotes is not reported', async () => {
    const errors: unknown[] = []
    const url = 'redis://:s3cr%65t@127.0.0.1:1'
    const fail = async () => {
      throw new Error(`cannot connect to ${url}: "s3cret" is wrong`)
    }
    const onError = (error: unknown) => errors.push(error)
    const broker = new Broker({ url, secret: 'x', self: 'x', wake: () => {}, onError }, fail)
    await eventually(() => errors.length === 1)
    await broker.close()
    assert.match(inspected(errors[0]), /cannot connect to redis:\/\/:\*\*\*@127\.0\.0\.1:1: "\*\*\*" is wrong/)
    assert.doesNotMatch(inspected(errors[0]), /s3cr/)
  })
})

const inspected = (error: unknown): string => {
  const { message, stack, cause } = error as Error
  return `${message} ${stack} ${cause}`
}

/** Ends the connections that LISTEN; without a poll they are not opened again. */
async function loseListen(database: Awaited<ReturnType<typeof freshDatabase>>): Promise<void> {
  const end = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen %'`
  await eventually(async () => (await database.query(end)).length > 0)
}

/** Each of two processes has two connections to Redis and one to NATS. */
const connected = ({ connections }: { readonly connections: number }, scheme: string): number | false => {
  const expected = scheme === 'redis' ? 4 : 2
  return connections === expected && expected
}
