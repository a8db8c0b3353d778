import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { defineModels } from '../model/define.ts'
import type { Change, RecordId } from '../protocol/change.ts'
import type { Message, Peer } from '../protocol/event.ts'
import type { JsonObject } from '../protocol/json.ts'
import { Feed, type Followed } from './feed.ts'
import { type Follow, Hub } from './hub.ts'

const models = defineModels({
  user: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: { attributes: { name: { type: 'string' }, owner: { model: 'user' } } },
})

type Row = Pick<Change, 'model' | 'verb' | 'id' | 'before' | 'after' | 'origin'>

/** A log in memory whose places are numbers, and which is read when the test says so. */
class TestLog implements Followed {
  readonly changes: Change[] = []
  /** The models whose changes were wanted. */
  readonly wanted: string[] = []
  reads = 0
  failing: Error | undefined
  #listeners = new Set<() => void>()

  /** One operation, not yet noticed by anybody. Resolves with the place behind it. */
  write(...rows: readonly Row[]): string {
    const operation = `operation ${this.changes.length}`
    for (const row of rows) {
      const position = String(this.changes.length + 1)
      this.changes.push({ position, operation, at: '2026-01-01T00:00:00.000Z', ...row })
    }
    return this.head()
  }

  /** Everybody reads on, and is done. */
  async wake(): Promise<void> {
    for (const listener of this.#listeners) listener()
    for (let turns = 0; turns < 20; turns++) await turn()
  }

  head(): string {
    if (this.failing) throw this.failing
    return String(this.changes.length)
  }

  read: Followed['read'] = (after, limit, isWanted = () => true) => {
    this.reads++
    assert.ok(after !== undefined, 'there is a place to read from')
    if (this.failing) throw this.failing
    const changes = this.changes.slice(Number(after), Number(after) + limit)
    const position = String(Number(after) + changes.length)
    const wanted = changes.filter(({ model }) => isWanted(model))
    this.wanted.push(...wanted.map(({ model }) => model))
    return { changes: wanted, position }
  }

  onWake(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }
}

class TestPeer implements Peer {
  readonly id: string
  readonly mirror: boolean
  readonly heard: string[] = []
  resets = 0
  /** Called with each message. */
  during: ((message: Message) => void) | undefined

  constructor(id: string, mirror = false) {
    this.id = id
    this.mirror = mirror
  }

  send(message: Message): boolean {
    const { verb, model, id } = message.event
    this.heard.push(`${verb} ${model} ${id}`)
    this.during?.(message)
    return true
  }

  reset(): void {
    this.resets++
  }

  /** What was heard since the last time. */
  take(): string[] {
    return this.heard.splice(0)
  }
}

function setUp(maxSubscriptions = 100) {
  const log = new TestLog()
  const reported: unknown[] = []
  const feed = new Feed(log, models, (error) => reported.push(error))
  const covers = (position: string, change: Change) => Number(change.position) <= Number(position)
  const hub = new Hub({ feed, covers, maxSubscriptions })
  /** A request that found something at once. */
  const ask = async (peer: Peer, follow: Partial<Follow>, position: string | undefined = log.head()) => {
    const joining = await hub.begin(peer, 'reads')
    hub.join(joining, { records: [], models: [], ...follow }, position)
  }
  const connect = (id: string, mirror = false) => {
    const peer = new TestPeer(id, mirror)
    return { peer, connection: hub.connect(peer) }
  }
  return { log, hub, ask, connect, reported }
}

const pet = (id: RecordId, more: JsonObject = {}): JsonObject => ({ id, name: 'Rex', owner: null, ...more })
const created = (id: RecordId, origin?: string): Row => ({
  model: 'pet',
  verb: 'created',
  id,
  after: pet(id),
  ...(origin !== undefined && { origin }),
})
const updated = (id: RecordId, origin?: string): Row => ({
  model: 'pet',
  verb: 'updated',
  id,
  before: pet(id),
  after: pet(id, { name: 'Tom' }),
  ...(origin !== undefined && { origin }),
})
const moved = (id: RecordId, from: RecordId | null, to: RecordId | null, origin?: string): Row => ({
  model: 'pet',
  verb: 'updated',
  id,
  before: pet(id, { owner: from }),
  after: pet(id, { owner: to }),
  ...(origin !== undefined && { origin }),
})
const destroyed = (id: RecordId): Row => ({ model: 'pet', verb: 'destroyed', id, before: pet(id) })
const pets = (...ids: readonly RecordId[]) => [{ model: 'pet', ids }]

describe('a subscription begins where its reading ends', () => {
  const orders: readonly [name: string, heardFirst: boolean][] = [
    ['what was written in between has been told already', true],
    ['what was written in between is told later', false],
  ]
  for (const [name, heardFirst] of orders) {
    test(name, async () => {
      const { log, hub, connect } = setUp()
      const { peer } = connect('a')
      log.write(created(1))
      const joining = await hub.begin(peer, 'reads')
      log.write({ ...updated(1), after: pet(1, { name: 'read' }) })
      const position = log.head()
      log.write(updated(1))
      if (heardFirst) await log.wake()
      hub.join(joining, { records: pets(1), models: [] }, position)
      await log.wake()
      assert.deepEqual(peer.take(), ['updated pet 1'], 'once, and not what was read')
    })
  }

  test('for new records too, which are followed from then on', async () => {
    const { log, hub, connect } = setUp()
    const { peer } = connect('a')
    const joining = await hub.begin(peer, 'reads')
    log.write(created(1))
    const position = log.head()
    log.write(created(2))
    log.write(updated(1), updated(2))
    await log.wake()
    hub.join(joining, { records: [], models: ['pet'] }, position)
    assert.deepEqual(peer.take(), ['created pet 2', 'updated pet 2'])
    log.write(updated(2))
    await log.wake()
    assert.deepEqual(peer.take(), ['updated pet 2'])
  })

  test('for a new record that was read before it was told of: what came after its beginning is told as well', async () => {
    const { log, ask, connect } = setUp()
    const { peer } = connect('a')
    await ask(peer, { models: ['pet'] })
    log.write(created(1))
    log.write(updated(1))
    // Whoever holds what they hear would go on holding the record as it began.
    await ask(peer, { records: pets(1), models: ['pet'] })
    await log.wake()
    log.write(updated(1))
    await log.wake()
    assert.deepEqual(peer.take(), ['created pet 1', 'updated pet 1', 'updated pet 1'])
  })

  test('a write has read nothing: it hears all since it began but what it did itself', async () => {
    const { log, hub, connect } = setUp()
    const { peer } = connect('a')
    const joining = await hub.begin(peer, 'writes')
    log.write(updated(1, 'a'))
    log.write(updated(1))
    await log.wake()
    log.write(updated(1, 'b'))
    hub.join(joining, { records: pets(1), models: [] }, undefined)
    await log.wake()
    assert.deepEqual(peer.take(), ['updated pet 1', 'updated pet 1'])
  })

  test('who gave up is told nothing', async () => {
    const { log, hub, connect } = setUp()
    const { peer } = connect('a')
    const joining = await hub.begin(peer, 'reads')
    log.write(updated(1))
    await log.wake()
    hub.abandon(joining, true)
    hub.join(joining, { records: pets(1), models: ['pet'] }, '0')
    log.write(updated(1), created(2))
    await log.wake()
    assert.deepEqual(peer.take(), [])
  })
})

describe('changes are read', () => {
  const user: Row = { model: 'user', verb: 'created', id: 1, after: { id: 1, name: 'Ann' } }
  const lives: Row = { model: 'pet', verb: 'updated', id: 1, before: pet(1), after: pet(1, { owner: 1 }) }
  const cases: readonly (readonly [what: string, follow: Partial<Follow>, row: Row, isRead: boolean])[] = [
    ['of a record that is followed', { records: pets(1) }, updated(1), true],
    ['of others of its model', { records: pets(1) }, updated(2), true],
    ['of a model that is watched', { models: ['pet'] }, created(1), true],
    ['of members, for those who follow whose they are', { records: [{ model: 'user', ids: [1] }] }, lives, true],
    ['of nothing else', { models: ['pet'] }, user, false],
  ]
  for (const [what, follow, row, isRead] of cases) {
    test(what, async () => {
      const { log, ask, connect } = setUp()
      const { peer } = connect('a')
      await ask(peer, follow)
      log.write(row)
      await log.wake()
      assert.deepEqual(log.wanted, isRead ? [row.model] : [])
    })
  }

  test('of everything, while somebody asks', async () => {
    const { log, hub, connect } = setUp()
    const { peer } = connect('a')
    const joining = await hub.begin(peer, 'reads')
    log.write(user)
    await log.wake()
    assert.deepEqual(log.wanted, ['user'])
    hub.join(joining, { records: [], models: [] }, '0')
    log.write(user)
    await log.wake()
    assert.deepEqual(log.wanted, ['user'])
  })
})

describe('nothing is told twice', () => {
  test('because the peer asked for something else meanwhile', async () => {
    const { log, hub, ask, connect } = setUp()
    const { peer } = connect('a')
    await ask(peer, { records: pets(1), models: ['pet'] })
    const joining = await hub.begin(peer, 'reads')
    log.write(updated(1))
    log.write(created(3))
    await log.wake()
    hub.join(joining, { records: pets(2), models: ['user'] }, '0')
    await log.wake()
    assert.deepEqual(peer.take(), ['updated pet 1', 'created pet 3'])
  })

  test('because it joined while an event was being told to many', async () => {
    const { log, hub, ask, connect } = setUp()
    const others = Array.from({ length: 501 }, (_, index) => connect(`other ${index}`).peer)
    for (const other of others) await ask(other, { records: pets(1, 2, 3) })
    const { peer } = connect('a')
    const joining = await hub.begin(peer, 'reads')
    // After five hundred deliveries others have their turn: in the middle of the second event.
    others[498]!.during = ({ event }) => {
      if (event.id === 2) setImmediate(() => hub.join(joining, { records: pets(1, 2, 3), models: [] }, '0'))
    }
    log.write(updated(1), updated(2), updated(3))
    await log.wake()
    assert.deepEqual(peer.take(), ['updated pet 1', 'updated pet 2', 'updated pet 3'])
    for (const other of others) assert.equal(other.take().length, 3)
  })
})

describe('a record that is destroyed', () => {
  test('is heard of once by each, and then by nobody', async () => {
    const { log, ask, connect } = setUp()
    const { peer: a } = connect('a')
    const { peer: b } = connect('b')
    const { peer: watcher } = connect('w')
    await ask(a, { records: pets(1) })
    await ask(b, { records: pets(1) })
    await ask(watcher, { models: ['pet'] })
    log.write({ ...destroyed(1), origin: 'b' })
    await log.wake()
    log.write(created(1))
    log.write(updated(1))
    await log.wake()
    assert.deepEqual(a.take(), ['destroyed pet 1'])
    assert.deepEqual(b.take(), [])
    assert.deepEqual(watcher.take(), ['created pet 1', 'updated pet 1'])
  })

  test('is another than the one with the same key that somebody has read since', async () => {
    const { log, ask, connect } = setUp()
    const { peer: old } = connect('old')
    const { peer: young } = connect('young')
    await ask(old, { records: pets(1) })
    log.write(destroyed(1))
    log.write(created(1))
    // It reads before the end of the old record has been told.
    await ask(young, { records: pets(1) })
    await log.wake()
    log.write(updated(1))
    await log.wake()
    assert.deepEqual(old.take(), ['destroyed pet 1'])
    assert.deepEqual(young.take(), ['updated pet 1'])
  })

  test('while it was asked for again is heard of once, and another with its key not at all', async () => {
    const { log, hub, ask, connect } = setUp()
    const { peer } = connect('a')
    log.write(created(1))
    await ask(peer, { records: pets(1) })
    const joining = await hub.begin(peer, 'reads')
    const position = log.head()
    log.write(updated(1))
    log.write(destroyed(1))
    await log.wake()
    hub.join(joining, { records: pets(1), models: [] }, position)
    log.write(created(1))
    log.write(updated(1))
    await log.wake()
    assert.deepEqual(peer.take(), ['updated pet 1', 'destroyed pet 1'])
  })

  test('while it was asked for ends the subscription it began', async () => {
    const { log, hub, connect } = setUp()
    const { peer } = connect('a')
    const joining = await hub.begin(peer, 'reads')
    const position = log.head()
    log.write(destroyed(1))
    await log.wake()
    hub.join(joining, { records: pets(1), models: [] }, position)
    log.write(created(1))
    log.write(updated(1))
    await log.wake()
    assert.deepEqual(peer.take(), ['destroyed pet 1'])
  })
})

describe('who causes a change', () => {
  test('does not hear of it, but follows what it made as a watcher', async () => {
    const { log, ask, connect } = setUp()
    const { peer } = connect('a')
    await ask(peer, { models: ['pet'] })
    log.write(created(1, 'a'))
    log.write(updated(1, 'b'))
    await log.wake()
    assert.deepEqual(peer.take(), ['updated pet 1'])
  })

  test('hears of it if it wants to', async () => {
    const { log, ask, connect } = setUp()
    const { peer } = connect('a', true)
    await ask(peer, { models: ['pet'] })
    log.write(created(1, 'a'))
    await log.wake()
    assert.deepEqual(peer.take(), ['created pet 1'])
  })
})

describe('who was told of others while it wrote', () => {
  const own = updated(1, 'a')
  const other = updated(1, 'b')
  const cases: readonly (readonly [
    what: string,
    rows: { readonly before?: Row; readonly during?: readonly Row[]; readonly after?: readonly Row[] },
    heard: readonly string[],
  ])[] = [
    ['hears of its own change, told before its answer', { during: [other, own] }, ['updated pet 1', 'updated pet 1']],
    ['told after its answer', { after: [other, own] }, ['updated pet 1', 'updated pet 1']],
    ['and the other before it', { during: [other], after: [own] }, ['updated pet 1', 'updated pet 1']],
    ['not if it knew before it began', { before: other, after: [own] }, []],
    ['not if the other came later', { during: [own], after: [other] }, ['updated pet 1']],
    ['not for another record', { during: [updated(2)], after: [own] }, ['updated pet 2']],
  ]
  for (const [what, { before, during = [], after = [] }, heard] of cases) {
    for (const isFollowed of [true, false]) {
      test(`${what}${isFollowed ? '' : ', of a record that it did not listen to'}`, async () => {
        const { log, hub, ask, connect } = setUp()
        const { peer } = connect('a')
        await ask(peer, { records: isFollowed ? pets(1, 2) : pets(2) })
        if (before) log.write(before)
        await log.wake()
        peer.take()
        const joining = await hub.begin(peer, 'writes')
        for (const row of during) log.write(row)
        await log.wake()
        for (const row of after) log.write(row)
        hub.join(joining, { records: pets(1), models: [] }, undefined)
        await log.wake()
        assert.deepEqual(peer.take(), heard)
        log.write(own)
        await log.wake()
        assert.deepEqual(peer.take(), [], 'and nothing is kept of it')
      })
    }
  }

  for (const isRefused of [false, true]) {
    test(`and was ${isRefused ? 'refused' : 'answered that it failed'} hears what it did after all: ${!isRefused}`, async () => {
      const { log, hub, ask, connect } = setUp()
      const { peer } = connect('a')
      await ask(peer, { records: pets(1) })
      hub.abandon(await hub.begin(peer, 'writes'), isRefused)
      log.write(own)
      await log.wake()
      assert.deepEqual(peer.take(), isRefused ? [] : ['updated pet 1'])
    })
  }

  test('is forgotten, though the log could not be read at first', async () => {
    const { log, hub, ask, connect, reported } = setUp()
    const { peer } = connect('a')
    await ask(peer, { records: pets(1) })
    const joining = await hub.begin(peer, 'writes')
    log.write(other)
    log.write(own)
    hub.join(joining, { records: pets(1), models: [] }, undefined)
    log.failing = new Error('the database is away')
    await log.wake()
    assert.deepEqual([peer.take(), reported], [[], [log.failing]])
    log.failing = undefined
    await log.wake()
    assert.deepEqual(peer.take(), ['updated pet 1', 'updated pet 1'])
    log.write(own)
    await log.wake()
    assert.deepEqual(peer.take(), [])
  })

  test('is forgotten, though what it wrote changed nothing', async () => {
    const { log, hub, ask, connect } = setUp()
    const { peer } = connect('a')
    await ask(peer, { records: pets(1) })
    await log.wake()
    const reads = log.reads
    for (let count = 0; count < 2_000; count++) {
      hub.join(await hub.begin(peer, 'writes'), { records: pets(1), models: [] }, undefined)
      if (count % 100 === 0) await turn()
    }
    assert.ok(log.reads > reads && log.reads < reads + 20, `${log.reads - reads} reads`)
  })
})

describe('who adds members', () => {
  const added = { model: 'user', id: 7, attribute: 'pets', target: 'pet' }

  for (const heardFirst of [true, false]) {
    test(`follows those that are new, ${heardFirst ? 'told of before' : 'told of after'} its answer`, async () => {
      const { log, hub, connect } = setUp()
      const { peer } = connect('a')
      const joining = await hub.begin(peer, 'writes')
      log.write(moved(1, null, 7, 'b'), moved(2, null, 8, 'a'))
      log.write(moved(3, null, 7, 'a'), moved(4, 9, 7, 'a'), moved(5, 7, null, 'a'))
      log.write(updated(3))
      if (heardFirst) await log.wake()
      hub.join(joining, { records: [], models: [], added }, undefined)
      await log.wake()
      assert.deepEqual(peer.take(), ['updated pet 3'])
      log.write(updated(1), updated(2), updated(3), updated(4), updated(5))
      await log.wake()
      assert.deepEqual(peer.take(), ['updated pet 3', 'updated pet 4'])
    })
  }

  test('follows nobody whom it adds to something else later', async () => {
    const { log, ask, connect } = setUp()
    const { peer } = connect('a')
    await ask(peer, { added })
    log.write(created(1))
    await log.wake()
    log.write(moved(1, null, 7, 'a'))
    log.write(updated(1))
    await log.wake()
    assert.deepEqual(peer.take(), [])
  })
})

describe('much that is told at once', () => {
  test('leaves others their turn', async () => {
    const { log, ask, connect } = setUp()
    const { peer } = connect('a')
    await ask(peer, { records: pets(1) })
    for (let count = 0; count < 2000; count++) log.write(updated(1))
    const waking = log.wake()
    await turn()
    assert.ok(peer.heard.length < 2000)
    await waking
    assert.equal(peer.heard.length, 2000)
  })

  test('is not told to who came after it, when everybody who listened went in the middle', async () => {
    const { log, hub, ask, connect } = setUp()
    const before = Array.from({ length: 600 }, (_, index) => connect(`before ${index}`))
    for (const { peer } of before) await ask(peer, { models: ['pet'] })
    log.write(created(1))
    const waking = log.wake()
    await turn()
    assert.equal(before.filter(({ peer }) => peer.heard.length > 0).length, 500)
    for (const { connection } of before) connection[Symbol.dispose]()
    await Promise.resolve().then() // nobody is left, and the telling has not gone on
    log.write(created(2))
    const { peer } = connect('after')
    hub.join(await hub.begin(peer, 'writes'), { records: [], models: ['pet'] }, undefined)
    await waking
    assert.deepEqual(peer.take(), [])
    log.write(created(3))
    await log.wake()
    assert.deepEqual(peer.take(), ['created pet 3'])
  })
})

describe('a peer', () => {
  test('that is gone hears and keeps nothing, though it went in the middle', async () => {
    const { log, ask, connect } = setUp()
    const { peer, connection } = connect('gone')
    const others = Array.from({ length: 600 }, (_, index) => connect(`other ${index}`).peer)
    for (const other of others) await ask(other, { models: ['pet'] })
    await ask(peer, { models: ['pet'] })
    others[499]!.during = () => setImmediate(() => connection[Symbol.dispose]())
    log.write(created(1))
    await log.wake()
    assert.deepEqual(peer.take(), [])
    const { peer: again } = connect('gone')
    log.write(updated(1))
    await log.wake()
    assert.deepEqual([peer.take(), again.take()], [[], []])
    assert.equal(others[599]!.take().length, 2)
  })

  test('that comes as the last one goes hears everything', async () => {
    const { log, ask, connect } = setUp()
    const { peer, connection } = connect('a')
    await ask(peer, { records: pets(1) })
    connection[Symbol.dispose]()
    const { peer: next } = connect('b')
    await ask(next, { records: pets(1) })
    log.write(updated(1))
    await log.wake()
    assert.deepEqual(next.take(), ['updated pet 1'])
  })

  test('that goes just as there is something to read leaves nothing that fails', async () => {
    for (let moments = -1; moments < 8; moments++) {
      const { log, ask, connect, reported } = setUp()
      const { peer, connection } = connect('a')
      await ask(peer, { records: pets(1) })
      log.write(updated(1))
      if (moments < 0) connection[Symbol.dispose]()
      const waking = log.wake()
      for (let moment = 0; moment < moments; moment++) await Promise.resolve()
      connection[Symbol.dispose]()
      await waking
      assert.deepEqual(reported, [])
    }
  })

  test('that goes while the log is read hears of nothing that breaks then', async () => {
    const { log, ask, connect, reported } = setUp()
    const { peer, connection } = connect('a')
    await ask(peer, { records: pets(1) })
    const read = Promise.withResolvers<never>()
    log.read = () => read.promise
    log.write(updated(1))
    await log.wake()
    connection[Symbol.dispose]()
    await turn()
    read.reject(new Error('the store is closed'))
    await turn()
    assert.deepEqual(reported, [])
  })

  test('that cannot be served now is served later', async () => {
    const { log, ask, connect } = setUp()
    const { peer } = connect('a')
    log.failing = new Error('the database is away')
    await assert.rejects(ask(peer, { records: pets(1) }, '0'), log.failing)
    log.failing = undefined
    await ask(peer, { records: pets(1) })
    log.write(updated(1))
    await log.wake()
    assert.deepEqual(peer.take(), ['updated pet 1'])
  })

  test('that goes while it cannot be served leaves nothing that fails', async () => {
    const { log, hub, connect } = setUp()
    const { peer, connection } = connect('a')
    log.failing = new Error('the database is away')
    const beginning = hub.begin(peer, 'reads')
    connection[Symbol.dispose]()
    await assert.rejects(beginning, log.failing)
    await turn()
  })
})

describe('who follows too much starts afresh', () => {
  test('for what it reads', async () => {
    const { log, ask, connect } = setUp(3)
    const { peer } = connect('a')
    await ask(peer, { records: pets(1, 2) })
    // The same again is nothing more.
    await ask(peer, { records: pets(1, 2, 3) })
    await ask(peer, { records: pets(1, 2, 3) })
    assert.equal(peer.resets, 0)
    await ask(peer, { records: pets(4) })
    assert.equal(peer.resets, 1)
    log.write(updated(1), updated(4))
    await log.wake()
    assert.deepEqual(peer.take(), [])
  })

  test('for what comes', async () => {
    const { log, ask, connect } = setUp(2)
    const { peer } = connect('a')
    const { peer: other } = connect('b')
    await ask(peer, { models: ['pet'] })
    await ask(other, { records: pets(1) })
    log.write(created(1))
    log.write(created(2))
    await log.wake()
    assert.equal(peer.resets, 0)
    log.write(created(3))
    log.write(updated(1))
    await log.wake()
    assert.equal(peer.resets, 1)
    assert.equal(other.resets, 0)
    assert.deepEqual(other.take(), ['updated pet 1'])
  })

  test('but not for what is gone again', async () => {
    const { log, ask, connect } = setUp(2)
    const { peer } = connect('a')
    await ask(peer, { models: ['pet'] })
    for (let id = 1; id <= 10; id++) log.write(created(id), destroyed(id))
    for (let id = 11; id <= 20; id++) {
      log.write(created(id))
      log.write(destroyed(id))
    }
    await log.wake()
    assert.equal(peer.resets, 0)
  })
})
