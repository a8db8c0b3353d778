import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { parseWhere } from '../../criteria/parse-where.ts'
import { defineModels } from '../../model/define.ts'
import type { Model } from '../../model/model.ts'
import type { Change, Position } from '../../protocol/change.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { anonymous } from '../../protocol/requester.ts'
import { defaultLimits } from '../../support/limits.ts'
import { Broadcaster } from '../broadcaster.ts'
import { ChangeFeed, type ChangeSource } from '../change-feed.ts'
import type { CurrentRecords } from '../visibility.ts'
import { EventIterator, type EventIteratorOptions, type IteratorItem } from './event-iterator.ts'
import { EventIterators } from './event-iterators.ts'

const models = defineModels({
  owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: { attributes: { name: { type: 'string' }, owner: { model: 'owner' } } },
})
const owner = models.get('owner') as Model
const pet = models.get('pet') as Model

/** A log in memory whose positions are numbers. The test decides what happens before and after a read. */
class TestLog implements ChangeSource {
  readonly changes: Change[] = []
  readonly listeners = new Set<() => void>()
  floor = 0
  beforeRead: (() => unknown) | undefined
  afterRead: (() => unknown) | undefined
  failing: Error | undefined

  /** Appends one operation of `count` changes. */
  write(model = 'pet', count = 1): void {
    const operation = `${this.changes.length + 1}`
    for (let index = 0; index < count; index++) {
      const id = this.changes.length + 1
      const after: JsonObject = { id, name: `${id}` }
      this.changes.push({ position: `${id}`, operation, model, verb: 'created', id, after, at: '' })
    }
    for (const listener of this.listeners) listener()
  }

  head(): Position {
    return `${this.changes.length}`
  }

  async read(after: Position, limit: number) {
    await this.beforeRead?.()
    if (this.failing) throw this.failing
    const from = Number(after)
    if (!(from >= this.floor && from <= this.changes.length)) return 'reset' as const
    let to = Math.min(from + limit, this.changes.length)
    while (to < this.changes.length && this.changes[to]?.operation === this.changes[to - 1]?.operation) to++
    const changes = this.changes.slice(from, to)
    await this.afterRead?.()
    return { changes, position: `${to}` }
  }

  includes(position: Position, change: Change): boolean {
    return Number(change.position) <= Number(position)
  }

  onChange(listener: () => void): Disposable {
    this.listeners.add(listener)
    return { [Symbol.dispose]: () => void this.listeners.delete(listener) }
  }
}

type OpenOptions = Partial<EventIteratorOptions> & { readonly since?: Position }

function setUp(options: OpenOptions = {}, currentRecords: CurrentRecords = () => new Map()) {
  const log = new TestLog()
  const reported: unknown[] = []
  const onError = (error: unknown) => reported.push(error)
  const feed = new ChangeFeed(log, onError)
  const broadcaster = new Broadcaster({ feed, models, order: log, currentRecords, maxRecentEvents: 0, onError })
  const iterators = new EventIterators()
  const open = ({ since, ...more }: OpenOptions = {}) =>
    new EventIterator({
      log,
      broadcaster,
      iterators,
      requester: anonymous,
      target: { model: pet },
      from: { position: since ?? log.head() },
      isResumed: since !== undefined,
      queue: { capacity: 10, weigh: () => 1, overflow: 'reset' },
      ...options,
      ...more,
    })
  return { log, broadcaster, iterators, open, reported }
}

const kinds = (items: readonly (IteratorItem | undefined)[]) => items.map((item) => item?.kind)

/** The keys in an item. */
const idsOf = (item: IteratorItem | undefined): readonly unknown[] =>
  item?.kind === 'operation' ? item.events.map(({ id }) => id) : [item?.kind]

async function take(live: EventIterator, count: number): Promise<(IteratorItem | undefined)[]> {
  const items: (IteratorItem | undefined)[] = []
  while (items.length < count) items.push((await live.next()).value)
  return items
}

async function rest(live: EventIterator): Promise<IteratorItem[]> {
  const items: IteratorItem[] = []
  for await (const item of live) items.push(item)
  return items
}

async function settle(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await turn()
}

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

describe('the end', () => {
  test('comes at once while a `next` is pending', async () => {
    const { log, open } = setUp()
    const live = open()
    await take(live, 1)
    const waiting = live.next()
    await settle()
    await live.return()
    assert.deepEqual(await waiting, { done: true, value: undefined })
    assert.equal(log.listeners.size, 0)
    assert.deepEqual(await live.next(), { done: true, value: undefined })
  })

  test('comes to an iterator that has not begun', async () => {
    const { log, open } = setUp()
    const live = open()
    await live.return()
    assert.deepEqual(await live.next(), { done: true, value: undefined })
    assert.equal(log.listeners.size, 0)
  })

  test('of the service is `shutdown`, with the position after the last item', async () => {
    const { log, iterators, open } = setUp()
    const live = open()
    await take(live, 1)
    const first = live.next()
    await settle()
    for (let count = 0; count < 3; count++) log.write()
    await first
    await settle()
    iterators.stop()
    assert.deepEqual(await rest(live), [{ kind: 'shutdown', position: '1' }])
  })

  test('of the service does not skip events that wait for the database', async () => {
    let answer = (_: ReadonlyMap<number, JsonObject>) => {}
    const where = parseWhere({ name: { '!=': 'x' } }, owner, defaultLimits)
    const { log, iterators, open } = setUp(
      { target: { model: owner, where } },
      () => new Promise((resolve) => (answer = resolve)),
    )
    log.write('owner')
    const live = open()
    await take(live, 1)
    const waiting = live.next()
    await settle()
    const after = { id: 2, name: 'Rex', owner: 1 }
    log.changes.push({ position: '2', operation: '2', model: 'pet', verb: 'created', id: 2, after, at: '' })
    for (const listener of log.listeners) listener()
    await settle()
    iterators.stop()
    answer(new Map([[1, { id: 1, name: 'Ann' }]]))
    assert.deepEqual((await waiting).value, { kind: 'shutdown', position: '1' })
  })

  test('of the service is `shutdown` also while the log is read', async () => {
    const { log, iterators, open } = setUp()
    for (let count = 0; count < 3; count++) log.write()
    const live = open({ since: '0' })
    await take(live, 2)
    iterators.stop()
    log.failing = new Error('closed')
    assert.deepEqual(await rest(live), [{ kind: 'shutdown', position: '1' }])
  })

  test('is an error when the log cannot be read', async () => {
    const { log, open } = setUp()
    const live = open()
    await take(live, 1)
    log.failing = new Error('no log')
    await assert.rejects(live.next(), /no log/)
    assert.deepEqual(await live.next(), { done: true, value: undefined })
    assert.equal(log.listeners.size, 0)
  })

  test('of a record ends its subscription', async () => {
    const { log, open } = setUp({ target: { model: pet, id: 1 } })
    const live = open()
    await take(live, 1)
    log.write()
    log.changes.push({
      position: '2',
      operation: '2',
      model: 'pet',
      verb: 'destroyed',
      id: 1,
      before: { id: 1 },
      at: '',
    })
    log.write()
    const items = await rest(live)
    assert.deepEqual(
      items.map((item) => (item.kind === 'operation' ? item.events.map(({ verb }) => verb) : item.kind)),
      [['created'], ['destroyed']],
    )
    assert.equal(log.listeners.size, 0)
  })
})
