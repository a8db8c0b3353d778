import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { idsOf, kinds, rest, settle, setUp, type TestLog, take } from '../../../test/support/event-iterator.ts'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import type { Position } from '../../protocol/change.ts'
import type { IteratorItem } from './event-iterator.ts'

/** A generator of numbers that repeats itself for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** A position is never within an operation. */
function wholeAfter(log: TestLog, position: Position): Position {
  const { operation } = log.changes[Number(position) - 1] ?? {}
  return `${Math.max(Number(position), log.changes.findLastIndex((change) => change.operation === operation) + 1)}`
}

describe('every event is delivered once', () => {
  test('wherever a write falls: before or after a read, in the same turn or later', async () => {
    for (let seed = 1; seed <= 150; seed++) {
      const random = randomOf(seed)
      const { log, open, reported } = setUp({ queue: { capacity: 1_000, weigh: () => 1, overflow: 'reset' } })
      let mostChanges = 40
      const maybeWrite = () => {
        if (log.changes.length < mostChanges && random() < 0.4)
          log.write(random() < 0.7 ? 'pet' : 'owner', random() < 0.5 ? 1 : 2)
      }
      for (let count = 0; count < 5; count++) maybeWrite()
      const others = [open(), open()]
      for (const other of others) void take(other, 100)
      log.beforeRead = () => {
        maybeWrite()
        return random() < 0.5 ? turn() : undefined
      }
      log.afterRead = log.beforeRead
      for (let turns = 0; turns < random() * 10; turns++) await turn()
      const since = random() < 0.5 ? `${Math.floor(random() * log.changes.length)}` : undefined
      mostChanges = log.changes.length + 40
      const live = open(since === undefined ? {} : { since: wholeAfter(log, since) })
      const items: IteratorItem[] = []
      const taking = (async () => {
        for await (const item of live) items.push(item)
      })()
      for (let round = 0; round < 10; round++) {
        maybeWrite()
        await turn()
      }
      log.beforeRead = undefined
      log.afterRead = undefined
      log.write()
      while (items.at(-1)?.position !== log.head()) await turn()
      const [ready, ...rest] = items
      const delivered = rest.flatMap(idsOf)
      const own = log.changes.filter(
        ({ model, position }) => model === 'pet' && Number(position) > Number(ready?.position),
      )
      assert.deepEqual(
        delivered,
        own.map(({ id }) => id),
        `seed ${seed}`,
      )
      await Promise.all([taking, ...[live, ...others].map((one) => one.return())])
      assert.deepEqual(reported, [])
      assert.equal(log.listeners.size, 0)
    }
  })

  test('to an iterator that begins during a delivery to others', async () => {
    const { log, open } = setUp()
    const early = open()
    await take(early, 1)
    const reading = early.next()
    await settle()
    const late = open()
    log.write()
    const joined = take(late, 1)
    log.write()
    await reading
    log.write()
    assert.deepEqual((await joined)[0]?.kind, 'ready')
    const delivered: unknown[] = []
    while (delivered.at(-1) !== 3) delivered.push(...idsOf((await late.next()).value))
    assert.deepEqual(delivered, [1, 2, 3])
    await Promise.all([early.return(), late.return()])
  })

  test('to an iterator that begins when the last one ends', async () => {
    const { log, open } = setUp()
    const first = open()
    await take(first, 1)
    const waiting = first.next()
    await settle()
    const second = open()
    await take(second, 1)
    const received = second.next()
    // In one turn the feed is closed and opened.
    void first.return()
    await waiting
    await settle()
    log.write()
    assert.deepEqual(idsOf((await received).value), [1])
    await second.return()
    assert.equal(log.listeners.size, 0)
  })
})

describe('an operation', () => {
  test('is one item, whose position is that of its last change', async () => {
    const { log, open } = setUp()
    const live = open()
    await take(live, 1)
    log.write('pet', 3)
    const [item] = await take(live, 1)
    assert.deepEqual([idsOf(item), item?.position], [[1, 2, 3], '3'])
    await live.return()
  })

  test('may be larger than the queue, when nothing else waits', async () => {
    const { log, open } = setUp()
    const live = open()
    await take(live, 1)
    void live.next()
    await settle()
    log.write('pet', 50)
    await settle()
    log.write('pet', 1)
    assert.deepEqual(kinds(await take(live, 1)), ['operation'])
    await live.return()
  })
})

describe('a consumer that is too slow', () => {
  test('gets `reset` with the position of the last event it missed, and the iterator ends', async () => {
    const { log, open } = setUp()
    const live = open()
    await take(live, 1)
    const first = live.next()
    await settle()
    for (let count = 0; count < 12; count++) {
      log.write()
      await settle()
    }
    assert.deepEqual(idsOf((await first).value), [1])
    assert.deepEqual(await rest(live), [{ kind: 'reset', position: '12' }])
    assert.equal(log.listeners.size, 0)
  })

  test('gets `reset` when too much waits in the whole process', async () => {
    const weights: number[] = []
    const queue = {
      capacity: 10,
      weigh: () => 1,
      overflow: 'reset',
      onWeight: (weight: number) => weights.push(weight),
    } as const
    const { log, open } = setUp({ queue })
    const live = open()
    await take(live, 1)
    const first = live.next()
    await settle()
    log.write()
    await first
    for (let count = 0; count < 2; count++) {
      log.write()
      await settle()
    }
    live.onOverflow()
    assert.deepEqual(await rest(live), [{ kind: 'reset', position: '3' }])
    assert.deepEqual(weights, [1, 0, 1, 2, 0])
  })

  test('or continues from the log, and misses nothing', async () => {
    const { log, open } = setUp({ queue: { capacity: 2, weigh: () => 1, overflow: 'replay' } })
    const live = open()
    await take(live, 1)
    const delivered = [live.next()]
    await settle()
    for (let count = 0; count < 9; count++) {
      log.write()
      await settle()
    }
    for (let count = 1; count < 9; count++) delivered.push(live.next())
    assert.deepEqual(
      (await Promise.all(delivered)).flatMap(({ value }) => idsOf(value)),
      [1, 2, 3, 4, 5, 6, 7, 8, 9],
    )
    log.write()
    assert.deepEqual(idsOf((await live.next()).value), [10])
    await live.return()
  })

  test('does not delay others', async () => {
    const { log, open } = setUp()
    const [slow, quick] = [open(), open()]
    await Promise.all([take(slow, 1), take(quick, 1)])
    void slow.next()
    const delivered: unknown[] = []
    const taking = (async () => {
      for await (const item of quick) delivered.push(...idsOf(item))
    })()
    await settle()
    for (let count = 0; count < 30; count++) {
      log.write()
      await settle()
    }
    assert.equal(delivered.length, 30)
    await Promise.all([quick.return(), slow.return(), taking])
  })
})

test('one event wakes many consumers in several turns of the event loop', async () => {
  const { log, open } = setUp()
  const all = Array.from({ length: 300 }, () => open())
  await Promise.all(all.map((live) => take(live, 1)))
  using counter = new TurnCounter()
  const turns = new Set<number>()
  const delivered = all.map((live) =>
    live.next().then(({ value }) => {
      turns.add(counter.turn)
      return idsOf(value)
    }),
  )
  await settle()
  log.write()
  for (const ids of await Promise.all(delivered)) assert.deepEqual(ids, [1])
  assert.ok(turns.size >= 4, `in ${turns.size} turns`)
  await Promise.all(all.map((live) => live.return()))
})

describe('a position', () => {
  test('that is gone is answered with `reset` and a new one, instead of `ready`', async () => {
    const { log, open } = setUp()
    log.write()
    log.write()
    log.floor = 2
    const live = open({ since: '1' })
    assert.deepEqual(await take(live, 1), [{ kind: 'reset', position: '2' }])
    log.write()
    assert.deepEqual((await take(live, 1)).map(idsOf), [[3]])
    await live.return()
  })

  test('that is trimmed during a subscription: the iterator gets `reset` and continues', async () => {
    const { log, open } = setUp()
    const live = open()
    await take(live, 1)
    const waiting = live.next()
    await settle()
    log.write('owner')
    await settle()
    // The feed finds its own position gone.
    log.changes.push(...log.changes.map((change) => ({ ...change, position: '2', operation: '2' })))
    log.floor = 2
    for (const listener of log.listeners) listener()
    assert.deepEqual((await waiting).value, { kind: 'reset', position: '2' })
    log.write()
    assert.deepEqual((await take(live, 1)).map(idsOf), [[3]])
    await live.return()
  })

  test('of a heartbeat advances with the feed', async () => {
    const { log, open } = setUp()
    const live = open()
    await take(live, 1)
    const first = live.next()
    await settle()
    live.heartbeat()
    assert.deepEqual((await first).value, { kind: 'heartbeat', position: '0' })
    const second = live.next()
    log.write('owner')
    await settle()
    live.heartbeat()
    assert.deepEqual((await second).value, { kind: 'heartbeat', position: '1' })
    await live.return()
  })
})
