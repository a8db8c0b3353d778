import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { blockEventLoop } from '../../../test/support/block-event-loop.ts'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import { matchAll } from '../../criteria/criteria.ts'
import { parseSort } from '../../criteria/parse-sort.ts'
import { defineModels } from '../../model/define.ts'
import type { Model } from '../../model/model.ts'
import type { Change } from '../../protocol/change.ts'
import { ServiceError } from '../../protocol/errors.ts'
import { defaultLimits } from '../../support/limits.ts'
import { ChangeFeed } from '../change-feed.ts'
import { LiveQueries } from './live-queries.ts'
import type { LiveQuery, QuerySubscriber } from './live-query.ts'
import type { QueryPlan, QueryResult } from './query-plan.ts'

const models = defineModels({ pet: { attributes: { name: { type: 'string' } } } })
const pet = models.get('pet') as Model

/** A log in memory whose positions are numbers, and a query over its records that counts its runs. */
class TestLog {
  readonly changes: Change[] = []
  readonly listeners = new Set<() => void>()
  runs = 0
  hold: Promise<void> | undefined
  failing: Error | undefined

  /** Operations that the feed delivers in one turn. */
  write(...names: readonly string[]): void {
    this.writeUnseen(...names)
    for (const listener of this.listeners) listener()
  }

  writeUnseen(...names: readonly string[]): void {
    for (const name of names) {
      const id = this.changes.length + 1
      this.changes.push({
        position: `${id}`,
        operation: `${id}`,
        model: 'pet',
        verb: 'created',
        id,
        after: { id, name },
        at: '',
      })
    }
  }

  head = () => `${this.changes.length}`
  read = (after: string) => ({ changes: this.changes.slice(Number(after)), position: this.head() })
  includes = (position: string, change: Change) => Number(change.position) <= Number(position)
  onChange(listener: () => void): Disposable {
    this.listeners.add(listener)
    return { [Symbol.dispose]: () => void this.listeners.delete(listener) }
  }

  plan(): QueryPlan {
    const result = (): QueryResult => {
      if (this.failing) throw this.failing
      this.runs++
      return {
        position: this.head(),
        rows: this.changes.map(({ id }) => ({ id: id as number, digest: '' })),
        texts: this.changes.map(({ after }) => JSON.stringify(after)),
        length: 0,
        total: undefined,
        hasMore: false,
      }
    }
    return {
      key: 'all',
      model: pet,
      where: matchAll,
      local: undefined,
      through: new Set(),
      isConcernedBy: () => true,
      run: () => (this.hold ? this.hold.then(result) : result()),
    }
  }
}

async function setUp() {
  const log = new TestLog()
  const queries = new LiveQueries({
    feed: new ChangeFeed(log, (error) => assert.fail(String(error))),
    order: log,
    maxRuns: 2,
    maxRows: 100,
  })
  const told: string[] = []
  const client = {
    requester: undefined,
    onOperations: (operations: readonly string[], turn: number) =>
      told.push(`operations ${operations} of turn ${turn}`),
    onSettled: () => {},
  }
  const connection = await queries.connect(client)
  const subscriber = (name: string): QuerySubscriber => ({
    client,
    onRows: ({ rows, position }) => told.push(`${name}: ${rows.length} rows at ${position}`),
    onDifference: (position, body) => told.push(`${name}: ${body.slice(1)} at ${position}`),
    onFailure: (error) => told.push(`${name}: ${(error as Error).message}`),
    onGap: () => told.push(`${name}: gap`),
  })
  return { log, queries, told, subscriber, [Symbol.dispose]: () => connection[Symbol.dispose]() }
}

const settled = async () => {
  for (let turns = 0; turns < 10; turns++) await new Promise((resolve) => setImmediate(resolve))
}

describe('a query that is read again', () => {
  test('is read once for all changes of a turn and all of its subscribers', async () => {
    using made = await setUp()
    const { log, queries, told, subscriber } = made
    for (const name of ['a', 'b', 'c']) queries.subscribe(log.plan(), subscriber(name), () => {})
    // A subscriber may have to wait for a turn.
    await settled()
    assert.deepEqual(told.splice(0), ['a: 0 rows at 0', 'b: 0 rows at 0', 'c: 0 rows at 0'])
    log.runs = 0
    log.write('x', 'y', 'z')
    await settled()
    assert.equal(log.runs, 1)
    const entered = '"enter":[[0,{"id":1,"name":"x"}],[1,{"id":2,"name":"y"}],[2,{"id":3,"name":"z"}]]'
    assert.deepEqual(told, ['operations 1,2,3 of turn 1', ...['a', 'b', 'c'].map((name) => `${name}: ${entered} at 3`)])
  })

  test('is not read for a change that its rows contain, and is for one during the read', async () => {
    using made = await setUp()
    const { log, queries, told, subscriber } = made
    log.changes.push(
      ...[1].map(
        (id): Change => ({ position: '1', operation: '1', model: 'pet', verb: 'created', id, after: { id }, at: '' }),
      ),
    )
    queries.subscribe(log.plan(), subscriber('a'), () => {})
    log.write()
    await settled()
    assert.equal(log.runs, 1)
    const held = Promise.withResolvers<void>()
    log.hold = held.promise
    log.write('x')
    await settled()
    log.hold = undefined
    log.changes.push({
      position: '3',
      operation: '3',
      model: 'pet',
      verb: 'created',
      id: 3,
      after: { id: 3, name: 'y' },
      at: '',
    })
    held.resolve()
    await settled()
    assert.match(told.at(-1) ?? '', /"enter":\[\[1,.*\],\[2,.*\]\] at 3/)
    log.write('z')
    await settled()
    assert.match(told.at(-1) ?? '', /"enter":\[\[3,\{"id":4,"name":"z"\}\]\] at 4/)
  })

  test('fails with the error of its read, and other subscribers of it with it', async () => {
    using made = await setUp()
    const { log, queries, told, subscriber } = made
    queries.subscribe(log.plan(), subscriber('a'), () => {})
    log.failing = new ServiceError('E_BAD_CRITERIA', 'too large')
    log.write('x')
    await settled()
    assert.equal(told.at(-1), 'a: too large')
    log.failing = undefined
    queries.subscribe(log.plan(), subscriber('b'), () => {})
    assert.equal(told.at(-1), 'b: 1 rows at 1')
  })
})

describe('a query that follows the images of changes is not settled before its difference is sent:', () => {
  const localPlan = (log: TestLog, onText: () => void = () => {}): QueryPlan => {
    const plan = log.plan()
    const textOf = (record: object): string => {
      onText()
      return JSON.stringify(record)
    }
    const run = () => {
      const { hold } = log
      log.hold = undefined
      const found = plan.run() as QueryResult // it has read before it waits
      log.hold = hold
      return hold ? hold.then(() => found) : found
    }
    return {
      ...plan,
      local: { where: matchAll, sort: [], limit: 100, textOf, digestOf: (text) => text },
      run,
    }
  }
  const difference = '"enter":[[0,{"id":1,"name":"x"}]] at 1'

  /** The first read of a query is under way until `first` is resolved. */
  async function setUpDuringRead() {
    const made = await setUp()
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    made.log.hold = first.promise
    made.queries.subscribe(localPlan(made.log), made.subscriber('a'), () => {})
    await settled()
    return { ...made, first, second }
  }

  test('a change during a read that another one follows', async () => {
    using made = await setUpDuringRead()
    const { log, queries, told, subscriber, first, second } = made
    log.write('x')
    await settled()
    queries.subscribe(localPlan(log), subscriber('b'), () => {})
    log.hold = second.promise
    first.resolve()
    await settled()
    assert.deepEqual(told.splice(0), ['operations 1 of turn 1', 'a: 0 rows at 0'])
    assert.equal(queries.isSettled, false)
    second.resolve()
    await settled()
    assert.deepEqual(told, [`a: ${difference}`, 'b: 1 rows at 1'])
    assert.equal(queries.isSettled, true)
  })

  for (const [changes, ms, reads] of [
    [100, 0, 1],
    [3, 3, 2],
  ] as const) {
    test(`${changes} changes during a read, for each of which it computes ${ms} ms: ${reads} reads`, async (t) => {
      let now = 0
      t.mock.method(performance, 'now', () => now)
      using made = await setUp()
      const { log, queries, told, subscriber } = made
      const first = Promise.withResolvers<void>()
      log.hold = first.promise
      queries.subscribe(
        localPlan(log, () => {
          now += ms
        }),
        subscriber('a'),
        () => {},
      )
      await settled()
      log.hold = undefined
      log.write(...Array.from({ length: changes }, () => 'x'))
      await settled()
      told.splice(0)
      first.resolve()
      await settled()
      assert.equal(log.runs, reads)
      assert.equal(told.length, 2)
      assert.match(told[1] as string, /^a: "enter":.*\{"id":3,"name":"x"\}/)
      assert.equal(queries.isSettled, true)
    })
  }

  test('a gap during a read that another one follows', async () => {
    using made = await setUpDuringRead()
    const { log, queries, told, first, second } = made
    log.writeUnseen('x')
    queries.onGap()
    log.hold = second.promise
    first.resolve()
    await settled()
    assert.deepEqual(told.splice(0), ['a: 0 rows at 0'])
    assert.equal(queries.isSettled, false)
    second.resolve()
    await settled()
    assert.deepEqual(told, [`a: ${difference}`])
    assert.equal(queries.isSettled, true)
  })

  test('a subscriber that comes between a change and the end of its turn', async () => {
    using made = await setUp()
    const { log, queries, told, subscriber } = made
    const held = Promise.withResolvers<void>()
    const joins = () => {
      log.hold = held.promise
      queueMicrotask(() => queries.subscribe(plan, subscriber('b'), () => {}))
    }
    const plan = localPlan(log, () => joins())
    queries.subscribe(plan, subscriber('a'), () => {})
    await settled()
    log.write('x')
    await settled()
    assert.deepEqual(told.splice(0), ['a: 0 rows at 0', 'operations 1 of turn 1'])
    assert.equal(queries.isSettled, false)
    held.resolve()
    await settled()
    assert.deepEqual(told, [`a: ${difference}`, 'b: 1 rows at 1'])
    assert.equal(queries.isSettled, true)
  })
})

test('differences of several queries that take long to send have a turn of the event loop each, before the operation is reported', async () => {
  using made = await setUp()
  const { log, queries, told, subscriber } = made
  using counter = new TurnCounter()
  const turns: number[] = []
  const local = {
    where: matchAll,
    sort: parseSort('id', pet, defaultLimits),
    limit: 30,
    textOf: (record: object) => JSON.stringify(record),
    digestOf: (text: string) => text,
  }
  const names = ['a', 'b', 'c', 'd']
  for (const name of names) {
    const slow: QuerySubscriber = {
      ...subscriber(name),
      onDifference: () => {
        blockEventLoop(10)
        turns.push(counter.turn)
        told.push(name)
      },
    }
    queries.subscribe({ ...log.plan(), key: name, local }, slow, () => {})
  }
  told.length = 0
  log.write('new')
  while (told.length <= names.length) await settled()
  assert.equal(new Set(turns).size, names.length, `sent in the turns ${turns}`)
  assert.deepEqual(told, [...names, 'operations 1 of turn 1'])
})

test('the memory of a subscriber that leaves while it receives a difference is given back once', async () => {
  using made = await setUp()
  const { log, queries, subscriber } = made
  const plan = { ...log.plan(), key: 'a'.repeat(25 * 60) }
  queries.subscribe(plan, subscriber('stays'), () => {})
  for (let count = 0; count < 3; count++) {
    const name = `leaves ${count}`
    const leaving: QuerySubscriber = { ...subscriber(name), onDifference: () => queries.unsubscribe(query, leaving) }
    let query!: LiveQuery
    queries.subscribe(plan, leaving, (shared) => {
      query = shared
    })
    log.write('x')
    await settled()
  }
  queries.subscribe({ ...plan, key: 'b'.repeat(25 * 60) }, subscriber('b'), () => {})
  assert.throws(() => queries.assertRoom(), /hold 100 rows/)
})

test('a query whose subscribers have left before its turn is not kept until the runs before it have ended', async () => {
  using made = await setUp()
  const { log, queries, subscriber } = made
  const read = Promise.withResolvers<void>()
  log.hold = read.promise
  for (const key of ['a', 'b']) queries.subscribe({ ...log.plan(), key }, subscriber(key), () => {})
  const leave = (): WeakRef<QueryPlan> => {
    const plan = { ...log.plan(), key: 'c' }
    const left = subscriber('c')
    queries.subscribe(plan, left, (query) => setImmediate(() => queries.unsubscribe(query, left)))
    return new WeakRef(plan)
  }
  const kept = leave()
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  for (let times = 0; times < 5 && kept.deref(); times++) {
    await settled()
    gc()
  }
  assert.equal(kept.deref(), undefined)
  read.resolve()
  await settled()
  assert.equal(log.runs, 2)
})

describe('many subscribers of one query that take long to receive', () => {
  const local = {
    where: matchAll,
    sort: parseSort('id', pet, defaultLimits),
    limit: 30,
    textOf: (record: object) => JSON.stringify(record),
    digestOf: () => '',
  }

  /** Their rows are read when the result is called. */
  async function setUpWaiting(onRows: (log: TestLog, count: number) => void = () => {}) {
    const made = await setUp()
    const { log, queries, told, subscriber } = made
    const read = Promise.withResolvers<void>()
    log.hold = read.promise
    const plan = { ...log.plan(), local }
    queries.subscribe(plan, subscriber('first'), () => {})
    const turns: number[] = []
    const counter = new TurnCounter()
    for (const name of ['a', 'b', 'c', 'd']) {
      const { onRows: receive, ...others } = subscriber(name)
      const slow: QuerySubscriber = {
        ...others,
        onRows(result) {
          blockEventLoop(10)
          turns.push(counter.turn)
          receive(result)
          onRows(log, turns.length)
        },
      }
      queries.subscribe(plan, slow, () => {})
    }
    const receive = async () => {
      log.hold = undefined
      read.resolve()
      while (turns.length < 4) await settled()
      await settled()
      counter[Symbol.dispose]()
      return told.filter((line) => !line.startsWith('operations') && !line.startsWith('first'))
    }
    return { ...made, turns, receive }
  }

  test('receive the rows of one run in a turn of the event loop each', async () => {
    using made = await setUpWaiting()
    const { turns, receive, log } = made
    assert.deepEqual(
      await receive(),
      ['a', 'b', 'c', 'd'].map((name) => `${name}: 0 rows at 0`),
    )
    assert.equal(new Set(turns).size, 4, `in the turns ${turns}`)
    assert.equal(log.runs, 2)
  })

  test('receive those of another run, if a change comes meanwhile', async () => {
    using made = await setUpWaiting((log, count) => {
      if (count === 1) log.write('x')
    })
    const { receive, log, queries } = made
    const entered = '"enter":[[0,{"id":1,"name":"x"}]] at 1'
    const lines = await receive()
    const ofEach = ['a', 'b', 'c', 'd'].map((name) =>
      lines
        .filter((line) => line.startsWith(name))
        .map((line) => line.slice(3))
        .join(' then '),
    )
    assert.deepEqual(new Set(ofEach), new Set([`0 rows at 0 then ${entered}`, '1 rows at 1']))
    assert.equal(log.runs, 3)
    assert.equal(queries.isSettled, true)
  })

  test('receive an operation in several turns, and all in order', async () => {
    const log = new TestLog()
    const feed = new ChangeFeed(log, (error) => assert.fail(String(error)))
    const queries = new LiveQueries({
      feed,
      order: log,
      maxRuns: 2,
      maxRows: 100,
      nameOf: (operation) => `n${operation}`,
    })
    using counter = new TurnCounter()
    const turns: number[] = []
    const told: string[] = []
    for (const name of ['a', 'b', 'c'])
      await queries.connect({
        requester: undefined,
        onOperations(operations, turn) {
          blockEventLoop(10)
          turns.push(counter.turn)
          told.push(`${name}: ${operations} in ${turn}`)
        },
        onSettled: () => {},
      })
    log.write('x', 'y')
    while (told.length < 1) await settled()
    log.write('z')
    while (told.length < 6) await settled()
    assert.ok(new Set(turns).size >= 4, `in the turns ${turns}`)
    const names = ['a', 'b', 'c']
    assert.deepEqual(told, [...names.map((name) => `${name}: n1,n2 in 1`), ...names.map((name) => `${name}: n3 in 3`)])
  })
})
