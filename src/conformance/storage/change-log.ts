import assert from 'node:assert/strict'
import { type Change, verbs } from '../../protocol/change.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { WriteReceipt } from '../../storage/write-origin.ts'
import type { StorageCase } from '../storage-case.ts'
import { changesAfter, Tables } from '../tables.ts'

const summary = ({ verb, model, id, before, after }: Change) => ({ verb, model, id, before, after })

/** The change log: every change once, in commit order, readable from any position. */
export const changeLog: readonly StorageCase[] = [
  {
    name: 'log: a write is a change with the record before and after',
    async run({ store, models }) {
      const tables = new Tables(models)
      const head = await store.changes.head()
      const full: JsonObject = {
        label: 'é🦁',
        weight: 0.1,
        legs: 9007199254740991,
        serial: '9007199254740993',
        alive: true,
        notes: { a: [1, null] },
        bornAt: '2026-11-21T03:00:00.123Z',
        token: '0190163d-8694-739b-aea5-966c26f8ad90',
        photo: 'AAEC',
      }
      const made = await tables.insert(store, 'specimen', full)
      const [changed] = await tables.update(store, 'specimen', made.id as number, { legs: null, label: '' })
      await tables.remove(store, 'specimen', made.id as number)
      const { id } = made
      assert.deepEqual((await changesAfter(store.changes, head)).map(summary), [
        { verb: 'created', model: 'specimen', id, before: undefined, after: made },
        { verb: 'updated', model: 'specimen', id, before: made, after: changed },
        { verb: 'destroyed', model: 'specimen', id, before: changed, after: undefined },
      ])
    },
  },
  {
    name: 'log: hidden attributes are not in the images of a change',
    async run({ store, models }) {
      const tables = new Tables(models)
      const head = await store.changes.head()
      const { id } = await tables.insert(store, 'keeper', { name: 'Ann', pin: '4711' })
      await tables.update(store, 'keeper', id as number, { pin: '4712' })
      await tables.remove(store, 'keeper', id as number)
      const changes = await changesAfter(store.changes, head)
      assert.equal(changes.length, 3)
      for (const { before, after } of changes) {
        assert.ok(!Object.hasOwn(before ?? {}, 'pin') && !Object.hasOwn(after ?? {}, 'pin'))
      }
    },
  },
  {
    name: 'log: each change has a verb, a time, a position and an operation',
    async run({ store, models }) {
      const tables = new Tables(models)
      const head = await store.changes.head()
      const from = Date.now()
      for (let legs = 0; legs < 3; legs++) await tables.insert(store, 'specimen', { legs })
      const changes = await changesAfter(store.changes, head)
      for (const { verb, at, position, operation } of changes) {
        assert.ok(verbs.includes(verb) && position !== '' && operation !== '')
        assert.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        assert.ok(Math.abs(Date.parse(at) - from) < 60_000)
      }
      assert.equal(new Set(changes.map(({ position }) => position)).size, 3)
      assert.equal(new Set(changes.map(({ operation }) => operation)).size, 3)
    },
  },
  {
    name: 'log: the changes of one transaction are one operation',
    async run({ store, models }) {
      const tables = new Tables(models)
      const head = await store.changes.head()
      const together = (legs: number) =>
        store.transaction(async (transaction) => {
          const { id } = await tables.insert(transaction, 'specimen', { legs })
          await tables.update(transaction, 'specimen', id as number, { legs: legs + 100 })
          await tables.insert(transaction, 'reading', { value: legs })
        })
      await Promise.all([together(1), together(2), together(3)])
      const changes = await changesAfter(store.changes, head)
      const operations = Map.groupBy(changes, ({ operation }) => operation)
      assert.equal(operations.size, 3)
      for (const group of operations.values()) {
        assert.deepEqual(
          group.map(({ verb, model }) => `${verb} ${model}`),
          ['created specimen', 'updated specimen', 'created reading'],
        )
        const legs = Number(group[0]?.after?.legs)
        assert.deepEqual([group[1]?.after?.legs, group[2]?.after?.value], [legs + 100, legs])
      }
    },
  },
  {
    name: 'log: unwanted changes are left out, and later ones are found',
    async run({ store, models }) {
      const tables = new Tables(models)
      let position = await store.changes.head()
      for (let round = 0; round < 3; round++) {
        for (let legs = 0; legs < 7; legs++) await tables.insert(store, 'specimen', { legs })
        await tables.insert(store, 'reading', { value: round })
      }
      const values: unknown[] = []
      for (;;) {
        const batch = await store.changes.read(position, 2, (model) => model === 'reading')
        assert.ok(batch !== 'reset')
        if (batch.changes.length === 0) break
        for (const { model, after } of batch.changes) values.push([model, after?.value])
        position = batch.position
      }
      assert.deepEqual(
        values,
        [0, 1, 2].map((value) => ['reading', value]),
      )
      await tables.insert(store, 'specimen', { legs: 1 })
      const batch = await store.changes.read(position, 2, () => false)
      assert.ok(batch !== 'reset' && batch.changes.length === 0)
      assert.deepEqual(await changesAfter(store.changes, batch.position), [])
    },
  },
  {
    name: 'log: a change has the origin of its write, or none',
    async run({ store, models }) {
      const tables = new Tables(models)
      const head = await store.changes.head()
      const specimen = tables.model('specimen')
      const values = await tables.values('specimen', { legs: 1 })
      await Promise.all([
        store.insert(specimen, values, { origin: 'ann' }),
        store.insert(specimen, await tables.values('specimen', { legs: 2 })),
        store.insert(specimen, await tables.values('specimen', { legs: 3 }), { origin: 'bob\'s "🦁"' }),
      ])
      await store.transaction(
        async (transaction) => {
          await tables.insert(transaction, 'specimen', { legs: 4 })
          await tables.insert(transaction, 'specimen', { legs: 4 })
        },
        { origin: 'cy' },
      )
      await store.update(specimen, tables.where('specimen', { legs: 1 }), tables.assignments('specimen', { legs: 5 }), {
        origin: 'dee',
      })
      await store.delete(specimen, tables.where('specimen', { legs: 5 }), { origin: 'eve' })
      const changes = await changesAfter(store.changes, head)
      const origins = changes.map(
        ({ after, before, origin }) => [Number((after ?? before)?.legs), origin ?? null] as const,
      )
      assert.deepEqual(
        [...origins].sort(([a], [b]) => a - b),
        [
          [1, 'ann'],
          [2, null],
          [3, 'bob\'s "🦁"'],
          [4, 'cy'],
          [4, 'cy'],
          [5, 'dee'],
          [5, 'eve'],
        ],
      )
      assert.ok(changes.every((change) => 'origin' in change === (change.origin !== undefined)))
    },
  },
  {
    name: 'log: the receipt of a write has the operation of its changes, and none when nothing changed',
    async run({ store, models }) {
      const tables = new Tables(models)
      const head = await store.changes.head()
      const specimen = tables.model('specimen')
      const receipt = (origin?: string): WriteReceipt => ({ origin, operation: undefined })
      const [inserted, updated, together] = [receipt('a/'), receipt(), receipt('b/peer')]
      const [empty, missing, deleted] = [receipt('c/'), receipt('d/'), receipt()]
      await store.insert(specimen, await tables.values('specimen', { legs: 1 }), { origin: inserted })
      await store.update(specimen, tables.where('specimen', { legs: 1 }), tables.assignments('specimen', { legs: 2 }), {
        origin: updated,
      })
      await store.transaction(
        async (transaction) => {
          await tables.insert(transaction, 'specimen', { legs: 3 })
          await tables.insert(transaction, 'specimen', { legs: 3 })
        },
        { origin: together },
      )
      await store.transaction(async (transaction) => transaction.count(specimen, tables.where('specimen', {})), {
        origin: empty,
      })
      await store.update(
        specimen,
        tables.where('specimen', { legs: 99 }),
        tables.assignments('specimen', { legs: 2 }),
        { origin: missing },
      )
      await store.delete(specimen, tables.where('specimen', { legs: 2 }), { origin: deleted })
      assert.deepEqual([empty.operation, missing.operation], [undefined, undefined])
      const changes = await changesAfter(store.changes, head)
      assert.deepEqual(
        changes.map(({ operation, requester, origin }) => [operation, requester, origin]),
        [
          [inserted.operation, 'a', undefined],
          [updated.operation, undefined, undefined],
          [together.operation, 'b', 'peer'],
          [together.operation, 'b', 'peer'],
          [deleted.operation, undefined, undefined],
        ],
      )
    },
  },
  {
    name: 'log: a position reaches itself and earlier ones, but no position of another log',
    async run({ store, models }) {
      const tables = new Tables(models)
      const positions = [await store.changes.head()]
      for (let legs = 0; legs < 3; legs++) {
        await tables.insert(store, 'specimen', { legs })
        positions.push(await store.changes.head())
      }
      for (const [index, position] of positions.entries()) {
        const reached = positions.map((other) => store.changes.reaches(position, other))
        assert.deepEqual(
          reached,
          positions.map((_, other) => other <= index),
        )
        for (const foreign of ['', '.', 'x.1.1', 'nothing', '1:2:', `x${position}`])
          assert.equal(store.changes.reaches(position, foreign), undefined)
      }
    },
  },
  {
    name: 'log: a write that changed no row or failed adds nothing',
    async run({ store, models }) {
      const tables = new Tables(models)
      await tables.insert(store, 'team', { title: 'Night' })
      const head = await store.changes.head()
      await tables.update(store, 'specimen', 999999, { legs: 1 })
      await tables.remove(store, 'specimen', 999999)
      await assert.rejects(tables.insert(store, 'team', { title: 'Night' }))
      assert.deepEqual(await changesAfter(store.changes, head), [])
    },
  },
  {
    name: 'log: junction rows are changes with both keys',
    async run({ store, models }) {
      const tables = new Tables(models)
      const ann = (await tables.insert(store, 'keeper', { name: 'Ann' })).id as number
      const night = (await tables.insert(store, 'team', { title: 'Night' })).id as number
      const junction = tables.junction('keeper', 'teams')
      const pair = junction.key.map((attribute) => ({
        attribute,
        value: attribute.references?.name === 'keeper' ? ann : night,
      }))
      const head = await store.changes.head()
      for (let round = 0; round < 2; round++)
        await store.transaction((transaction) => transaction.insertMissing(junction, pair))
      await store.delete(junction, { kind: 'and', conditions: [] })
      const id = pair.map(({ value }) => value)
      const row = Object.fromEntries(pair.map(({ attribute, value }) => [attribute.name, value]))
      assert.deepEqual((await changesAfter(store.changes, head)).map(summary), [
        { verb: 'created', model: junction.name, id, before: undefined, after: row },
        { verb: 'destroyed', model: junction.name, id, before: row, after: undefined },
      ])
    },
  },
]
