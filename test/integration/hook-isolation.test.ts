import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* A hook within the transaction that reads and then writes: concurrent ones have the effect of some sequence of them. */

// biome-ignore lint/suspicious/noExplicitAny: the types of records are not the subject
type Any = any

const number = { type: 'number' } as const
const take = async (stock: number, tx: Any) => {
  const { left } = await tx.stock.findOne(stock)
  await tx.stock.update(stock, { left: left - 1 })
}
const models: Any = {
  stock: { attributes: { left: number, lines: { collection: 'line', via: 'stock' } }, access: 'public' },
  line: {
    attributes: {
      count: number,
      code: { type: 'string', unique: true },
      stock: { model: 'stock' },
      invoice: { model: 'invoice' },
    },
    access: 'public',
    hooks: {
      within: {
        create: ({ record, tx }: Any) => take(record.stock, tx),
        update: ({ record, previous, tx }: Any) =>
          record.count === previous.count ? undefined : take(record.stock, tx),
        destroy: ({ previous, tx }: Any) => take(previous.stock, tx),
      },
    },
  },
  invoice: { attributes: { lines: { collection: 'line', via: 'invoice' } }, access: 'public' },
}

const atOnce = 8
type Write = (records: Any, stock: number, line: number, index: number) => Promise<unknown>
const writes: Readonly<Record<string, Write>> = {
  'a create': ({ line }, stock) => line.create({ stock }),
  'an update': ({ line }, _, id) => line.update(id, { count: 1 }),
  'a destroy': ({ line }, _, id) => line.destroy(id),
  'a create of several': ({ line }, stock) => line.createMany([{ stock }]),
  'a create with the record that has it': ({ invoice }, stock) => invoice.create({ lines: [{ stock }] }),
  'an upsert': ({ line }, stock, _, index) => line.upsert('code', { code: `${stock} ${index}`, stock }),
}

for (const database of databases) {
  describe(`hooks within concurrent transactions on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Any
    before(async () => {
      opened = await database.open()
      service = await createService({ database: opened.url, models, auth: { identify: () => null } })
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    for (const [requester, recordsOf] of [
      ['the system', () => service.system.records],
      ['a requester', () => service.as(null).records],
    ] as const)
      for (const [name, write] of Object.entries(writes))
        test(`${name} by ${requester} loses no update`, async () => {
          const { stock, line } = service.system.records
          const { id } = await stock.create({ left: 2 * atOnce })
          const lines = await line.createMany(Array.from({ length: atOnce }, () => ({ stock: id })))
          const keys = (lines.data ?? lines).map((each: Any) => each.id)
          await Promise.all(keys.map((key: number, index: number) => write(recordsOf(), id, key, index)))
          assert.equal((await stock.findOne(id)).left, 0)
        })
  })
}
