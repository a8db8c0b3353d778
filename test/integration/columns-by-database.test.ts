import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConfigError, createService as createTyped } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { schemaDatabases } from '../support/schema-databases.ts'

/* Columns that the database computes (`generated always as`) are read and never written. */

const tables = {
  sqlite: `create table line (id integer primary key autoincrement, price real, count integer not null default 1,
    total real generated always as (price * count) stored, label text not null generated always as ('n' || count) virtual,
    secret real as (price + 1))`,
  postgres: `create table line (id serial primary key, price double precision, count integer not null default 1,
    total double precision generated always as (price * count) stored,
    label text not null generated always as ('n' || count::text) virtual,
    secret double precision generated always as (price + 1) virtual)`,
}

const attributes = {
  createdAt: false,
  updatedAt: false,
  price: { type: 'number' },
  count: { type: 'number', isInteger: true, required: true },
  total: { type: 'number', readOnly: true },
  label: { type: 'string', required: true, readOnly: true },
  secret: { type: 'number', readOnly: true, hidden: true },
} as const

// biome-ignore lint/suspicious/noExplicitAny: events and problems are compared as they are
type Any = any
const createService = createTyped as (options: Any) => Promise<Any>

for (const { name, missing, open } of schemaDatabases) {
  describe(`columns that ${name} computes`, { skip: missing ?? false }, () => {
    /** PostgreSQL before 18 has stored ones only. */
    const create = async (execute: (text: string) => Promise<unknown>): Promise<void> => {
      await execute(tables[name]).catch((error) => {
        if (name === 'sqlite') throw error
        return execute(tables[name].replaceAll(' virtual', ' stored'))
      })
    }

    for (const migrate of ['add', 'safe'] as const) {
      test(`are answered and are not written, with migrate: '${migrate}'`, async () => {
        await using database = await open()
        await create((text) => database.execute(text))
        const options = { database: database.url, models: { line: { attributes } } } as const
        // The log, without which there are no events.
        if (migrate === 'safe') await (await createService(options)).close()
        await using service = await createService({ ...options, migrate })
        const send = async (method: string, path: string, body?: JsonObject) => {
          const headers = { 'content-type': 'application/json' }
          const init = body ? { method, headers, body: JSON.stringify(body) } : { method }
          const response = await service.fetch(new Request(`http://localhost${path}`, init))
          return { status: response.status, body: (await response.json()) as Any }
        }
        const { line } = service.system.records
        const events = line.live()[Symbol.asyncIterator]()
        await events.next()
        const some = line.live({ where: { total: { '>': 20 } } })[Symbol.asyncIterator]()
        await some.next()
        const query = line.liveQuery({ where: { label: 'n4' } })[Symbol.asyncIterator]()
        assert.deepEqual((await query.next()).value?.rows, [])

        const made = await send('POST', '/line', { price: 5, count: 2 })
        assert.deepEqual([made.status, made.body], [201, { id: 1, price: 5, count: 2, total: 10, label: 'n2' }])
        const changed = await send('PATCH', '/line/1', { count: 4 })
        assert.deepEqual(changed.body, { id: 1, price: 5, count: 4, total: 20, label: 'n4' })
        const appeared = (await query.next()).value as Any
        assert.deepEqual(
          appeared.rows.map(({ label }: Any) => label),
          ['n4'],
        )
        const same = await send('PATCH', '/line/1', {})
        assert.deepEqual(same.body, changed.body)
        const many = await send('POST', '/line', [{ price: 7, count: 1 }, { count: 3 }] as Any)
        assert.deepEqual(
          many.body.map(({ total, label }: Any) => [total, label]),
          [
            [7, 'n1'],
            [null, 'n3'],
          ],
        )
        const raised = await send('PATCH', `/line?where=${encodeURIComponent('{"total":7}')}`, { price: 30 })
        assert.deepEqual(
          raised.body.map(({ total }: Any) => total),
          [30],
        )
        const sorted = await send('GET', '/line?sort=total%20DESC&label[startsWith]=n&select=total')
        assert.deepEqual(
          sorted.body.map(({ total }: Any) => total),
          [30, 20, null],
        )

        assert.equal((await send('POST', '/line', { count: 1, secret: 1 })).status, 400) // an unknown name
        for (const [method, path, body] of [
          ['POST', '/line', { count: 1, total: 5 }],
          ['POST', '/line', { count: 1, label: 'x' }],
          ['PATCH', '/line/1', { total: 5 }],
        ] as const)
          assert.equal((await send(method, path, body)).status, 403, JSON.stringify(body))
        await assert.rejects(line.create({ count: 1, total: 5 } as Any), (error: Any) => {
          const violation = { rule: 'readOnly', message: 'is computed by the database and cannot be written' }
          assert.deepEqual(error.details.invalidAttributes, { total: [violation] })
          return true
        })
        await send('DELETE', '/line/1')

        const told: unknown[] = []
        while (told.length < 7) {
          const { verb, id, data, previous } = (await events.next()).value as Any
          told.push([verb, id, data, previous])
        }
        assert.deepEqual(told, [
          ['created', 1, { id: 1, price: 5, count: 2, total: 10, label: 'n2' }, undefined],
          [
            'updated',
            1,
            { id: 1, count: 4, total: 20, label: 'n4' },
            { id: 1, price: 5, count: 2, total: 10, label: 'n2' },
          ],
          ['updated', 1, { id: 1 }, { id: 1, price: 5, count: 4, total: 20, label: 'n4' }],
          ['created', 2, { id: 2, price: 7, count: 1, total: 7, label: 'n1' }, undefined],
          ['created', 3, { id: 3, price: null, count: 3, total: null, label: 'n3' }, undefined],
          ['updated', 2, { id: 2, price: 30, total: 30 }, { id: 2, price: 7, count: 1, total: 7, label: 'n1' }],
          ['destroyed', 1, undefined, { id: 1, price: 5, count: 4, total: 20, label: 'n4' }],
        ])
        const entered = (await some.next()).value as Any
        assert.deepEqual([entered.verb, entered.data.total], ['created', 30])
        await Promise.all([events.return?.(), some.return?.(), query.return?.()])
      })
    }

    test('are compared by rules as they are after a write', async () => {
      await using database = await open()
      await create((text) => database.execute(text))
      const access = { create: true, read: true, update: () => ({ total: { '<': 100 } }) }
      await using service = await createService({ database: database.url, models: { line: { attributes, access } } })
      const { line } = service.as(null).records
      await line.create({ price: 5, count: 2 })
      assert.equal((await line.update(1, { price: 6 })).total, 12)
      await assert.rejects(line.update(1, { price: 600 }), { code: 'E_FORBIDDEN' })
      assert.equal((await line.findOne(1)).total, 12)
    })

    test('are an error of the start where the attribute could be written', async () => {
      await using database = await open()
      await create((text) => database.execute(text))
      const writable = { ...attributes, total: { type: 'number' } } as const
      const advice = /line\.total: the database computes the column "total".* Write readOnly: true/
      const start = (given: object) =>
        createService({ database: database.url, models: { line: { attributes: given } } })
      await assert.rejects(start(writable), (error) => error instanceof ConfigError && advice.test(error.message))
      const keyed = { ...attributes, total: { type: 'number', readOnly: true, autoUpdatedAt: true } }
      await assert.rejects(
        start(keyed),
        /line\.total: the database computes the column "total".* Leave the attribute out/,
      )
    })
  })
}
