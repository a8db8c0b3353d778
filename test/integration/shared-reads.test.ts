import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { RawSocket } from '../support/raw-socket.ts'
import { type SchemaDatabase, schemaDatabases } from '../support/schema-databases.ts'

const cities = ['Bern', 'Oslo']

/** So many that a write ends before a list that began with it, which is a scan and runs outside of the event loop. */
const pets = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 30000)
  select 'pet ' || i, case when i % 2 = 1 then 'Bern' else 'Oslo' end from n`

async function serve(database: SchemaDatabase) {
  let statements: string[] = []
  const service = await createService({
    database: database.url,
    auth: { identify: ({ headers }) => (headers.city === undefined ? null : { city: String(headers.city) }) },
    models: {
      pet: {
        attributes: { createdAt: false, updatedAt: false, name: { type: 'string' }, city: { type: 'string' } },
        access: {
          read: ({ user }) => (user ? { city: user.city } : true),
          create: true,
          update: true,
        },
      },
    },
    logger: {
      info() {},
      warn() {},
      error: (data) => assert.fail(JSON.stringify(data)),
      debug: (data) => {
        const { kind, text } = data as { readonly kind?: string; readonly text?: string }
        if (kind === 'statement' && text?.startsWith('select')) statements.push(text)
      },
    },
  })
  const { pet } = service.system.records
  await database.execute(`insert into pet (name, city) ${pets}`)
  const query = '/pet?sort=name DESC&limit=2'
  const ask = async (city?: string) => {
    const headers = city === undefined ? undefined : { city }
    const response = await service.fetch(new Request(`http://localhost${query}`, { headers }))
    assert.equal(response.status, 200)
    return ((await response.json()) as { readonly name: string }[]).map(({ name }) => name).join()
  }
  for (const city of [undefined, ...cities]) for (let count = 0; count < 3; count++) await ask(city)
  /** Ends what is kept of the answers. */
  const change = (name: string) => pet.update(1, { name })
  return {
    service,
    ask,
    change,
    query,
    /** The statements that read pets since the last call. */
    reads(): number {
      const reading = statements.filter((text) => text.includes('"name"'))
      statements = []
      return reading.length
    },
    [Symbol.asyncDispose]: () => service.close(),
  }
}

describe('lists that are asked for at one time', () => {
  for (const { name, missing, open } of schemaDatabases) {
    const options = { skip: missing ?? false }

    test(`are read three times, whatever their number, and once more for other rules: ${name}`, options, async () => {
      await using database = await open()
      await using served = await serve(database)
      await served.change('zoe')
      served.reads()
      assert.deepEqual(
        await Promise.all(Array.from({ length: 30 }, () => served.ask())),
        Array(30).fill('zoe,pet 9999'),
      )
      assert.equal(served.reads(), 3)
      await served.change('zac')
      served.reads()
      const asked = Array.from({ length: 30 }, (_, index) => cities[index % 2] as string)
      const expected = asked.map((city) => (city === 'Bern' ? 'zac,pet 9999' : 'pet 9998,pet 9996'))
      assert.deepEqual(await Promise.all(asked.map(served.ask)), expected)
      assert.equal(served.reads(), 6)
    })

    test(`include every write that was answered before: ${name}`, options, async () => {
      await using database = await open()
      await using served = await serve(database)
      const asked: Promise<unknown>[] = []
      for (let count = 0; count < 10; count++) {
        const name = `zz ${count}`
        for (let index = 0; index < 4; index++) asked.push(served.ask())
        await served.change(name)
        for (let index = 0; index < 4; index++)
          asked.push(served.ask().then((names) => assert.ok(names >= name, `${names} after ${name}`)))
      }
      await Promise.all(asked)
    })

    test(`by sockets are read together, and each socket is subscribed from there: ${name}`, options, async () => {
      await using database = await open()
      await using served = await serve(database)
      const { url } = await served.service.listen(0, '127.0.0.1')
      const sockets = await Promise.all(Array.from({ length: 12 }, () => RawSocket.connect(url)))
      const ask = (socket: RawSocket) => socket.ask('get', { url: served.query })
      for (const socket of sockets.slice(0, 3)) await ask(socket)
      await served.change('zoe')
      served.reads()
      const answers = await Promise.all(sockets.map(ask))
      for (const { body } of answers) assert.equal(body[0].name, 'zoe')
      const reads = served.reads()
      assert.ok(reads < 12, `${reads} statements for 12 sockets`)
      await served.change('zoe 2')
      for (const socket of sockets) {
        await eventually(() => socket.received.some((frame) => frame.includes('zoe 2')))
        assert.equal(socket.events().filter(([name]) => name === 'pet').length, socket.received.length + 1)
        await socket[Symbol.asyncDispose]()
      }
    })
  }
})
