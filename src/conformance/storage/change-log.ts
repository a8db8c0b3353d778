import assert from 'node:assert/strict'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { type Change, type Position, verbs } from '../../protocol/change.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { ChangeLog } from '../../storage/change-log.ts'
import type { StorageCase } from '../storage-case.ts'
import { changesAfter, Tables } from '../tables.ts'

const told = ({ verb, model, id, before, after }: Change) => ({ verb, model, id, before, after })

/**
 * Keeps so many rows, and sees to it that a place is gone. A log may hold on to what somebody else's transaction, on a
 * server that is shared, could still need, so it is asked again for a while.
 */
async function trimAway(changes: ChangeLog, gone: Position, rows: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    await changes.trim({ ageMs: 3_600_000, rows })
    if ((await changes.read(gone, 10)) === 'reset') return
    await sleep(25)
  }
  assert.fail('what was trimmed away can still be read')
}

/** What happened: all of it, once, in an order that makes sense, and found again from any place in it. */
export const changeLog: readonly StorageCase[] = [
  {
    name: 'log: a write is a change with the record before and after it',
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
      assert.deepEqual((await changesAfter(store.changes, head)).map(told), [
        { verb: 'created', model: 'specimen', id, before: undefined, after: made },
        { verb: 'updated', model: 'specimen', id, before: made, after: changed },
        { verb: 'destroyed', model: 'specimen', id, before: changed, after: undefined },
      ])
    },
  },
  {
    name: 'log: each change has a verb, a time, a place and an operation',
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
    name: 'log: what one transaction did is one operation',
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
    name: 'log: what is not wanted is left out, and what comes behind it is found',
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
    name: 'log: who caused it is named, and only where somebody was',
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
    name: 'log: a write that changed no row, or failed, is not in it',
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
    name: 'log: pairs are changes too, known by both of their keys',
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
      assert.deepEqual((await changesAfter(store.changes, head)).map(told), [
        { verb: 'created', model: junction.name, id, before: undefined, after: row },
        { verb: 'destroyed', model: junction.name, id, before: row, after: undefined },
      ])
    },
  },
  {
    name: 'log: it is the same, however it is read',
    async run({ store, models }) {
      const tables = new Tables(models)
      const head = await store.changes.head()
      for (let legs = 0; legs < 5; legs++) {
        await tables.insert(store, 'specimen', { legs })
        await store.transaction(async (transaction) => {
          for (let inner = 0; inner < 3; inner++) await tables.insert(transaction, 'reading', { value: inner })
        })
      }
      const whole = await changesAfter(store.changes, head, 1000)
      assert.equal(whole.length, 20)
      for (const limit of [1, 2, 3, 7]) {
        assert.deepEqual(
          (await changesAfter(store.changes, head, limit)).map(told),
          whole.map(told),
          `${limit} at a time`,
        )
      }
    },
  },
  {
    name: 'log: a batch never ends within an operation',
    async run({ store, models }) {
      const tables = new Tables(models)
      const head = await store.changes.head()
      await tables.insert(store, 'specimen', {})
      await store.transaction(async (transaction) => {
        for (let value = 0; value < 6; value++) await tables.insert(transaction, 'reading', { value })
      })
      await tables.insert(store, 'specimen', {})
      for (const limit of [1, 2, 3, 4, 5, 6, 7]) {
        const seen = new Set<string>()
        for (let position = head; ; ) {
          const batch = await store.changes.read(position, limit)
          assert.ok(batch !== 'reset')
          if (batch.changes.length === 0) break
          const operations = new Set(batch.changes.map(({ operation }) => operation))
          for (const operation of operations) assert.ok(!seen.has(operation), 'an operation was torn apart')
          for (const operation of operations) seen.add(operation)
          position = batch.position
        }
      }
    },
  },
  {
    name: 'log: from any place in it what comes after is read',
    async run({ store, models }) {
      const tables = new Tables(models)
      const places = [await store.changes.head()]
      for (let legs = 0; legs < 4; legs++) {
        await tables.insert(store, 'specimen', { legs })
        places.push(await store.changes.head())
      }
      for (const [index, place] of places.entries()) {
        const legs = (await changesAfter(store.changes, place)).map(({ after }) => after?.legs)
        assert.deepEqual(legs, [0, 1, 2, 3].slice(index))
      }
      // The place may be said in other words then; it is the same.
      const last = await store.changes.read(places.at(-1) as string, 10)
      assert.ok(last !== 'reset' && last.changes.length === 0)
      await tables.insert(store, 'specimen', { legs: 4 })
      assert.deepEqual(
        (await changesAfter(store.changes, last.position)).map(({ after }) => after?.legs),
        [4],
      )
    },
  },
  {
    name: 'log: the place of a change is behind it',
    async run({ store, models }) {
      const tables = new Tables(models)
      const head = await store.changes.head()
      for (let legs = 0; legs < 4; legs++) await tables.insert(store, 'specimen', { legs })
      const changes = await changesAfter(store.changes, head)
      for (const [index, { position }] of changes.entries()) {
        const later = await changesAfter(store.changes, position)
        assert.deepEqual(
          later.map(({ after }) => after?.legs),
          [0, 1, 2, 3].slice(index + 1),
        )
      }
    },
  },
  {
    name: 'log: a place that is none is answered with reset',
    async run({ store }) {
      const head = await store.changes.head()
      const changed = head.startsWith('0') ? `1${head.slice(1)}` : `0${head.slice(1)}`
      for (const place of [
        '',
        'x',
        '0',
        '.',
        '..',
        'a.b.c',
        '-1',
        "'",
        head.slice(0, -1).slice(1),
        changed,
        `x${head}`,
      ]) {
        assert.equal(await store.changes.read(place, 10), 'reset', place)
      }
    },
  },
  {
    name: 'log: a place that was trimmed away is answered with reset, and one that was not goes on',
    async run({ store, models }) {
      const tables = new Tables(models)
      const old = await store.changes.head()
      for (let legs = 0; legs < 6; legs++) await tables.insert(store, 'specimen', { legs })
      await store.changes.trim({ ageMs: 3_600_000, rows: 1000 })
      assert.equal((await changesAfter(store.changes, old)).length, 6)
      const middle = await store.changes.head()
      await tables.insert(store, 'specimen', { legs: 6 })
      await tables.insert(store, 'specimen', { legs: 7 })
      await trimAway(store.changes, old, 2)
      assert.deepEqual(
        (await changesAfter(store.changes, middle)).map(({ after }) => after?.legs),
        [6, 7],
      )
      assert.deepEqual(
        (await changesAfter(store.changes, await store.changes.tail())).map(({ after }) => after?.legs),
        [6, 7],
      )
    },
  },
  {
    name: 'log: when all of it is gone, its end is still a place',
    async run({ store, models }) {
      const tables = new Tables(models)
      const old = await store.changes.head()
      await tables.insert(store, 'specimen', { legs: 1 })
      const head = await store.changes.head()
      await trimAway(store.changes, old, 0)
      assert.deepEqual(await changesAfter(store.changes, head), [])
      assert.deepEqual(await changesAfter(store.changes, await store.changes.tail()), [])
      await tables.insert(store, 'specimen', { legs: 2 })
      assert.deepEqual(
        (await changesAfter(store.changes, head)).map(({ after }) => after?.legs),
        [2],
      )
    },
  },
  {
    name: 'log: changes of one record follow from each other, whoever writes at once',
    async run({ store, models }) {
      const tables = new Tables(models)
      const head = await store.changes.head()
      const ids: number[] = []
      for (let index = 0; index < 3; index++)
        ids.push((await tables.insert(store, 'specimen', { legs: 0 })).id as number)
      await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          tables.update(store, 'specimen', ids[index % 3] as number, { legs: index + 1 }),
        ),
      )
      const changes = await changesAfter(store.changes, head, 7)
      assert.equal(changes.length, 63)
      for (const id of ids) {
        const own = changes.filter((change) => change.id === id)
        for (const [index, { before }] of own.entries()) assert.deepEqual(before, own[index - 1]?.after)
        assert.deepEqual(own.at(-1)?.after, await tables.one(store, 'specimen', id))
      }
    },
  },
  {
    name: 'log: a reader who follows it while others write misses nothing and hears nothing twice',
    async run({ store, models }) {
      const tables = new Tables(models)
      let position = await store.changes.head()
      const heard: unknown[] = []
      const follow = async (): Promise<void> => {
        const batch = await store.changes.read(position, 5)
        assert.ok(batch !== 'reset')
        heard.push(...batch.changes.map(({ after }) => after?.legs))
        position = batch.position
      }
      const writing = Promise.all(Array.from({ length: 50 }, (_, legs) => tables.insert(store, 'specimen', { legs })))
      let isDone = false
      void writing.finally(() => {
        isDone = true
      })
      while (!isDone) {
        await follow()
        await setImmediate() // a store that answers at once would never let the others write
      }
      for (let last = -1; last !== heard.length; ) {
        last = heard.length
        await follow()
      }
      assert.equal(heard.length, 50)
      assert.equal(new Set(heard).size, 50)
    },
  },
  {
    name: 'log: a snapshot and its place belong together, whoever writes at once',
    async run({ store, models }) {
      const tables = new Tables(models)
      const specimen = tables.model('specimen')
      const head = await store.changes.head()
      const writing = Promise.all(Array.from({ length: 40 }, (_, legs) => tables.insert(store, 'specimen', { legs })))
      const snapshots = []
      for (let round = 0; round < 8; round++) {
        snapshots.push(await store.snapshot((reads) => reads.count(specimen, tables.where('specimen', {}))))
        if (round % 2 === 1) await setImmediate()
      }
      await writing
      const changes = await changesAfter(store.changes, head)
      for (const { value, position } of snapshots) {
        assert.equal(changes.filter((change) => store.changes.covers(position, change)).length, value)
        assert.equal((await changesAfter(store.changes, position)).length, 40 - value)
      }
    },
  },
  {
    name: 'log: whoever listens is woken after a commit, and not any more when he has left',
    async run({ store, models }) {
      const tables = new Tables(models)
      const woken = Promise.withResolvers<void>()
      const listener = store.changes.onWake(() => woken.resolve())
      const head = await store.changes.head()
      await tables.insert(store, 'specimen', {})
      await woken.promise
      assert.equal((await changesAfter(store.changes, head)).length, 1)
      listener[Symbol.dispose]()

      let calls = 0
      store.changes.onWake(() => calls++)[Symbol.dispose]()
      const other = Promise.withResolvers<void>()
      using _ = store.changes.onWake(() => other.resolve())
      await tables.insert(store, 'specimen', {})
      await other.promise
      assert.equal(calls, 0)
    },
  },
]
