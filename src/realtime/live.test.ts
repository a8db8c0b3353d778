import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { parseWhere } from '../criteria/parse-where.ts'
import { defineModels } from '../model/define.ts'
import type { Model } from '../model/model.ts'
import type { Change, Position } from '../protocol/change.ts'
import type { JsonObject } from '../protocol/json.ts'
import { defaultLimits } from '../support/limits.ts'
import { Audience } from './audience.ts'
import { Feed } from './feed.ts'
import { Live, type LiveItem, type LiveLog, type LiveOptions } from './live.ts'

const models = defineModels({
  owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: { attributes: { name: { type: 'string' }, owner: { model: 'owner' } } },
})
const owner = models.get('owner') as Model
const pet = models.get('pet') as Model

/** A log in memory whose places are numbers. What happens around a reading is up to the test. */
class TestLog implements LiveLog {
  readonly changes: Change[] = []
  readonly listeners = new Set<() => void>()
  floor = 0
  beforeRead: (() => unknown) | undefined
  afterRead: (() => unknown) | undefined
  failing: Error | undefined

  /** An operation of so many changes. */
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

  covers(position: Position, change: Change): boolean {
    return Number(change.position) <= Number(position)
  }

  onWake(listener: () => void): Disposable {
    this.listeners.add(listener)
    return { [Symbol.dispose]: () => void this.listeners.delete(listener) }
  }
}

function setUp(options: Partial<LiveOptions> & { readonly since?: Position } = {}) {
  const log = new TestLog()
  const reported: unknown[] = []
  const feed = new Feed(log, models, (error) => reported.push(error))
  const audience = new Audience(feed)
  const open = ({ since, ...more }: Partial<LiveOptions> & { readonly since?: Position } = {}) =>
    new Live({
      log,
      audience,
      watched: { model: pet },
      visible: () => new Set(),
      from: since ?? log.head(),
      isResumed: since !== undefined,
      queue: { capacity: 10, weigh: ({ length }) => length, whenFull: 'end' },
      ...options,
      ...more,
    })
  return { log, feed, audience, open, reported }
}

const kinds = (items: readonly (LiveItem | undefined)[]) => items.map((item) => item?.kind)

/** The keys that an item tells of. */
const idsOf = (item: LiveItem | undefined): readonly unknown[] =>
  item?.kind === 'operation' ? item.events.map(({ id }) => id) : [item?.kind]

async function take(live: Live, count: number): Promise<(LiveItem | undefined)[]> {
  const items: (LiveItem | undefined)[] = []
  while (items.length < count) items.push((await live.next()).value)
  return items
}

async function rest(live: Live): Promise<LiveItem[]> {
  const items: LiveItem[] = []
  for await (const item of live) items.push(item)
  return items
}

async function settle(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await turn()
}

/** A generator of numbers that says the same again for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** A place is never within an operation. */
function wholeAfter(log: TestLog, position: Position): Position {
  const { operation } = log.changes[Number(position) - 1] ?? {}
  return `${Math.max(Number(position), log.changes.findLastIndex((change) => change.operation === operation) + 1)}`
}

describe('nothing is left out and nothing told twice', () => {
  test('whenever something is written: before a reading or after it, at once or later', async () => {
    for (let seed = 1; seed <= 150; seed++) {
      const random = randomOf(seed)
      const { log, open, reported } = setUp({ queue: { capacity: 1_000, weigh: () => 1, whenFull: 'end' } })
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
      const items: LiveItem[] = []
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
      const told = rest.flatMap(idsOf)
      const own = log.changes.filter(
        ({ model, position }) => model === 'pet' && Number(position) > Number(ready?.position),
      )
      assert.deepEqual(
        told,
        own.map(({ id }) => id),
        `seed ${seed}`,
      )
      await Promise.all([taking, ...[live, ...others].map((one) => one.return())])
      assert.deepEqual(reported, [])
      assert.equal(log.listeners.size, 0)
    }
  })

  test('one who joins while others are being told', async () => {
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
    const told: unknown[] = []
    while (told.at(-1) !== 3) told.push(...idsOf((await late.next()).value))
    assert.deepEqual(told, [1, 2, 3])
    await Promise.all([early.return(), late.return()])
  })

  test('one who joins when the last one leaves', async () => {
    const { log, open } = setUp()
    const first = open()
    await take(first, 1)
    const waiting = first.next()
    await settle()
    const second = open()
    await take(second, 1)
    const heard = second.next()
    // In one turn: the feed is let go of, and asked for.
    void first.return()
    await waiting
    await settle()
    log.write()
    assert.deepEqual(idsOf((await heard).value), [1])
    await second.return()
    assert.equal(log.listeners.size, 0)
  })
})

describe('an operation', () => {
  test('is one item, and its position is behind all of it', async () => {
    const { log, open } = setUp()
    const live = open()
    await take(live, 1)
    log.write('pet', 3)
    const [item] = await take(live, 1)
    assert.deepEqual([idsOf(item), item?.position], [[1, 2, 3], '3'])
    await live.return()
  })

  test('may be larger than what may wait, when nothing else does', async () => {
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

describe('one who takes too slowly', () => {
  test('is reset to where it fell behind, and it ends', async () => {
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

  test('or reads on in the log, and misses nothing', async () => {
    const { log, open } = setUp({ queue: { capacity: 2, weigh: ({ length }) => length, whenFull: 'reread' } })
    const live = open()
    await take(live, 1)
    const told = [live.next()]
    await settle()
    for (let count = 0; count < 9; count++) {
      log.write()
      await settle()
    }
    for (let count = 1; count < 9; count++) told.push(live.next())
    assert.deepEqual(
      (await Promise.all(told)).flatMap(({ value }) => idsOf(value)),
      [1, 2, 3, 4, 5, 6, 7, 8, 9],
    )
    log.write()
    assert.deepEqual(idsOf((await live.next()).value), [10])
    await live.return()
  })

  test('does not keep others waiting', async () => {
    const { log, open } = setUp()
    const [slow, quick] = [open(), open()]
    await Promise.all([take(slow, 1), take(quick, 1)])
    void slow.next()
    const told: unknown[] = []
    const taking = (async () => {
      for await (const item of quick) told.push(...idsOf(item))
    })()
    await settle()
    for (let count = 0; count < 30; count++) {
      log.write()
      await settle()
    }
    assert.equal(told.length, 30)
    await Promise.all([quick.return(), slow.return(), taking])
  })
})

describe('a place in the log', () => {
  test('that is gone is answered with a fresh one, in place of ready', async () => {
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

  test('that goes while somebody listens: they are reset, and go on', async () => {
    const { log, open } = setUp()
    const live = open()
    await take(live, 1)
    const waiting = live.next()
    await settle()
    log.write('owner')
    await settle()
    // Not one by one: the feed finds its own place gone.
    log.changes.push(...log.changes.map((change) => ({ ...change, position: '2', operation: '2' })))
    log.floor = 2
    for (const listener of log.listeners) listener()
    assert.deepEqual((await waiting).value, { kind: 'reset', position: '2' })
    log.write()
    assert.deepEqual((await take(live, 1)).map(idsOf), [[3]])
    await live.return()
  })

  test('moves on with what others hear, when one asks', async () => {
    const { log, open } = setUp()
    const live = open()
    await take(live, 1)
    const first = live.next()
    await settle()
    live.probe()
    assert.deepEqual((await first).value, { kind: 'still', position: '0' })
    const second = live.next()
    log.write('owner')
    await settle()
    live.probe()
    assert.deepEqual((await second).value, { kind: 'still', position: '1' })
    await live.return()
  })
})

describe('the end', () => {
  test('comes at once to one who waits', async () => {
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

  test('comes to one who has not begun', async () => {
    const { log, open } = setUp()
    const live = open()
    await live.return()
    assert.deepEqual(await live.next(), { done: true, value: undefined })
    assert.equal(log.listeners.size, 0)
  })

  test('of the service is told, with the place behind what was taken', async () => {
    const { log, audience, open } = setUp()
    const live = open()
    await take(live, 1)
    const first = live.next()
    await settle()
    for (let count = 0; count < 3; count++) log.write()
    await first
    await settle()
    audience.stop()
    assert.deepEqual(await rest(live), [{ kind: 'restart', position: '1' }])
  })

  test('of the service does not skip what the database is still asked about', async () => {
    let answer = (_: ReadonlySet<number>) => {}
    const where = parseWhere({ name: { '!=': 'x' } }, owner, defaultLimits)
    const { log, audience, open } = setUp({
      watched: { model: owner, where },
      visible: () => new Promise((resolve) => (answer = resolve)),
    })
    log.write('owner')
    const live = open()
    await take(live, 1)
    const waiting = live.next()
    await settle()
    const after = { id: 2, name: 'Rex', owner: 1 }
    log.changes.push({ position: '2', operation: '2', model: 'pet', verb: 'created', id: 2, after, at: '' })
    for (const listener of log.listeners) listener()
    await settle()
    audience.stop()
    answer(new Set([1]))
    assert.deepEqual((await waiting).value, { kind: 'restart', position: '1' })
  })

  test('of the service is told to one who is still reading the log', async () => {
    const { log, audience, open } = setUp()
    for (let count = 0; count < 3; count++) log.write()
    const live = open({ since: '0' })
    await take(live, 2)
    audience.stop()
    log.failing = new Error('closed')
    assert.deepEqual(await rest(live), [{ kind: 'restart', position: '1' }])
  })

  test('is an error where the log cannot be read', async () => {
    const { log, open } = setUp()
    const live = open()
    await take(live, 1)
    log.failing = new Error('no log')
    await assert.rejects(live.next(), /no log/)
    assert.deepEqual(await live.next(), { done: true, value: undefined })
    assert.equal(log.listeners.size, 0)
  })

  test('of a record ends its listening', async () => {
    const { log, open } = setUp({ watched: { model: pet, id: 1 } })
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
