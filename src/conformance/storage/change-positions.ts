import assert from 'node:assert/strict'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Change, Position } from '../../protocol/change.ts'
import type { ChangeLog } from '../../storage/change-log.ts'
import type { StorageCase } from '../storage-case.ts'
import { changesAfter, Tables } from '../tables.ts'

const summary = ({ verb, model, id, before, after }: Change) => ({ verb, model, id, before, after })

/**
 * Trims until a position cannot be read from and at most `rows` are left. A log may keep rows that a transaction of another
 * program, on a shared server, could still need, so the trim is repeated for a while.
 */
async function trimAway(changes: ChangeLog, gone: Position, rows: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    await changes.trim({ ageMs: 3_600_000, rows })
    const isGone = (await changes.read(gone, 10)) === 'reset'
    if (isGone && (await changesAfter(changes, await changes.tail())).length <= rows) return
    await sleep(25)
  }
  assert.fail('what was trimmed away can still be read')
}

/**
 * Repeats a case until a trim leaves its position readable. On a shared server, a trim by rows may give up a position at which a
 * transaction of another program was running, because it may have written rows that are trimmed.
 */
async function untilKept(changes: ChangeLog, makeAndTrim: () => Promise<Position>): Promise<Position> {
  for (let tries = 0; tries < 50; tries++) {
    const position = await makeAndTrim()
    if (await changes.isKept(position)) return position
  }
  assert.fail('what was kept cannot be read')
}

/** Reading the change log: batches, positions, trimming, and concurrent writes. */
export const changePositions: readonly StorageCase[] = [
  {
    name: 'log: batches of any size contain the same changes',
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
          (await changesAfter(store.changes, head, limit)).map(summary),
          whole.map(summary),
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
    name: 'log: reading resumes from any position',
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
      // The position may have another text form, but is equal.
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
    name: 'log: the position of a change is after it',
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
    name: 'log: an invalid position is answered with reset',
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
    name: 'log: a trimmed position is answered with reset, and one that was not trimmed is read',
    async run({ store, models }) {
      const tables = new Tables(models)
      const middle = await untilKept(store.changes, async () => {
        const old = await store.changes.head()
        for (let legs = 0; legs < 6; legs++) await tables.insert(store, 'specimen', { legs })
        await store.changes.trim({ ageMs: 3_600_000, rows: 1000 })
        assert.equal((await changesAfter(store.changes, old)).length, 6)
        const middle = await store.changes.head()
        await tables.insert(store, 'specimen', { legs: 6 })
        await tables.insert(store, 'specimen', { legs: 7 })
        await trimAway(store.changes, old, 2)
        return middle
      })
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
    name: 'log: the head of an empty log is a valid position',
    async run({ store, models }) {
      const tables = new Tables(models)
      const head = await untilKept(store.changes, async () => {
        const old = await store.changes.head()
        await tables.insert(store, 'specimen', { legs: 1 })
        const head = await store.changes.head()
        await trimAway(store.changes, old, 0)
        return head
      })
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
    name: 'log: the changes of one record are consecutive under concurrent writes',
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
    name: 'log: a reader during concurrent writes reads every change once',
    async run({ store, models }) {
      const tables = new Tables(models)
      let position = await store.changes.head()
      const received: unknown[] = []
      const follow = async (): Promise<void> => {
        const batch = await store.changes.read(position, 5)
        assert.ok(batch !== 'reset')
        received.push(...batch.changes.map(({ after }) => after?.legs))
        position = batch.position
      }
      const writing = Promise.all(Array.from({ length: 50 }, (_, legs) => tables.insert(store, 'specimen', { legs })))
      let isDone = false
      void writing.finally(() => {
        isDone = true
      })
      while (!isDone) {
        await follow()
        await setImmediate() // a synchronous store would block the writers
      }
      for (let last = -1; last !== received.length; ) {
        last = received.length
        await follow()
      }
      assert.equal(received.length, 50)
      assert.equal(new Set(received).size, 50)
    },
  },
  {
    name: 'log: a snapshot matches its position under concurrent writes',
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
        assert.equal(changes.filter((change) => store.changes.includes(position, change)).length, value)
        assert.equal((await changesAfter(store.changes, position)).length, 40 - value)
      }
    },
  },
  {
    name: 'log: a listener is called after a commit, and not after it was removed',
    async run({ store, models }) {
      const tables = new Tables(models)
      const woken = Promise.withResolvers<void>()
      const listener = store.changes.onChange(() => woken.resolve())
      const head = await store.changes.head()
      await tables.insert(store, 'specimen', {})
      await woken.promise
      assert.equal((await changesAfter(store.changes, head)).length, 1)
      listener[Symbol.dispose]()

      let calls = 0
      store.changes.onChange(() => calls++)[Symbol.dispose]()
      const other = Promise.withResolvers<void>()
      using _ = store.changes.onChange(() => other.resolve())
      await tables.insert(store, 'specimen', {})
      await other.promise
      assert.equal(calls, 0)
    },
  },
]
