import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { created, destroyed, moved, pet, pets, setUp, updated } from '../../../test/support/socket-broker.ts'

describe('a subscription starts at the position of its read', () => {
  const orders: readonly [name: string, isDeliveredFirst: boolean][] = [
    ['a change in between was delivered before', true],
    ['a change in between is delivered later', false],
  ]
  for (const [name, isDeliveredFirst] of orders) {
    test(name, async () => {
      const { log, broker, connect } = setUp()
      const { peer } = connect('a')
      log.write(created(1))
      const request = await broker.beginRequest(peer, 'reads')
      log.write({ ...updated(1), after: pet(1, { name: 'read' }) })
      const position = log.head()
      log.write(updated(1))
      if (isDeliveredFirst) await log.wake()
      broker.commitSubscriptions(request, { records: pets(1), models: [] }, position)
      await log.wake()
      assert.deepEqual(peer.take(), ['updated pet 1'], 'the later change, once')
    })
  }

  test('for new records, and it is subscribed to them', async () => {
    const { log, broker, connect } = setUp()
    const { peer } = connect('a')
    const request = await broker.beginRequest(peer, 'reads')
    log.write(created(1))
    const position = log.head()
    log.write(created(2))
    log.write(updated(1), updated(2))
    await log.wake()
    broker.commitSubscriptions(request, { records: [], models: ['pet'] }, position)
    assert.deepEqual(peer.take(), ['created pet 2', 'updated pet 2'])
    log.write(updated(2))
    await log.wake()
    assert.deepEqual(peer.take(), ['updated pet 2'])
  })

  test('for a new record that was read before its `created` was delivered: its later events follow', async () => {
    const { log, ask, connect } = setUp()
    const { peer } = connect('a')
    await ask(peer, { models: ['pet'] })
    log.write(created(1))
    log.write(updated(1))
    // Otherwise the client would keep the record as it was created.
    await ask(peer, { records: pets(1), models: ['pet'] })
    await log.wake()
    log.write(updated(1))
    await log.wake()
    assert.deepEqual(peer.take(), ['created pet 1', 'updated pet 1', 'updated pet 1'])
  })

  test('a write has read nothing: it receives all events since it began but its own', async () => {
    const { log, broker, connect } = setUp()
    const { peer } = connect('a')
    const request = await broker.beginRequest(peer, 'writes')
    log.write(updated(1, 'a'))
    log.write(updated(1))
    await log.wake()
    log.write(updated(1, 'b'))
    broker.commitSubscriptions(request, { records: pets(1), models: [] }, undefined)
    await log.wake()
    assert.deepEqual(peer.take(), ['updated pet 1', 'updated pet 1'])
  })

  test('a request that more events outlast than are kept is reset, and later ones are not', async () => {
    const { log, broker, ask, connect } = setUp({ maxRecentEvents: 10 })
    const { peer } = connect('a')
    const request = await broker.beginRequest(peer, 'reads')
    const position = log.head()
    for (let count = 0; count < 11; count++) log.write(updated(1))
    await log.wake()
    broker.commitSubscriptions(request, { records: pets(1), models: [] }, position)
    assert.equal(peer.resets, 1)
    await ask(peer, { records: pets(1) })
    log.write(updated(1))
    await log.wake()
    assert.deepEqual([peer.take(), peer.resets], [['updated pet 1'], 1])
  })

  test('an aborted request has no subscriptions', async () => {
    const { log, broker, connect } = setUp()
    const { peer } = connect('a')
    const request = await broker.beginRequest(peer, 'reads')
    log.write(updated(1))
    await log.wake()
    broker.abortRequest(request, true)
    broker.commitSubscriptions(request, { records: pets(1), models: ['pet'] }, '0')
    log.write(updated(1), created(2))
    await log.wake()
    assert.deepEqual(peer.take(), [])
  })
})

describe('no event is delivered twice', () => {
  test('because of another request meanwhile', async () => {
    const { log, broker, ask, connect } = setUp()
    const { peer } = connect('a')
    await ask(peer, { records: pets(1), models: ['pet'] })
    const request = await broker.beginRequest(peer, 'reads')
    log.write(updated(1))
    log.write(created(3))
    await log.wake()
    broker.commitSubscriptions(request, { records: pets(2), models: ['user'] }, '0')
    await log.wake()
    assert.deepEqual(peer.take(), ['updated pet 1', 'created pet 3'])
  })

  test('because its request ended during a delivery to many', async () => {
    const { log, broker, ask, connect } = setUp()
    const others = Array.from({ length: 501 }, (_, index) => connect(`other ${index}`).peer)
    for (const other of others) await ask(other, { records: pets(1, 2, 3) })
    const { peer } = connect('a')
    const request = await broker.beginRequest(peer, 'reads')
    // About five hundred deliveries make one turn: this is in the middle of the second event.
    others[498]!.during = (event) => {
      if (event.id === 2)
        setImmediate(() => broker.commitSubscriptions(request, { records: pets(1, 2, 3), models: [] }, '0'))
    }
    log.write(updated(1), updated(2), updated(3))
    await log.wake()
    assert.deepEqual(peer.take(), ['updated pet 1', 'updated pet 2', 'updated pet 3'])
    for (const other of others) assert.equal(other.take().length, 3)
  })
})

describe('`destroyed`', () => {
  test('is delivered once to each subscriber', async () => {
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

  test('is not the one with the same key that was read since', async () => {
    const { log, ask, connect } = setUp()
    const { peer: old } = connect('old')
    const { peer: young } = connect('young')
    await ask(old, { records: pets(1) })
    log.write(destroyed(1))
    log.write(created(1))
    // It reads before `destroyed` of the old record is delivered.
    await ask(young, { records: pets(1) })
    await log.wake()
    log.write(updated(1))
    await log.wake()
    assert.deepEqual(old.take(), ['destroyed pet 1'])
    assert.deepEqual(young.take(), ['updated pet 1'])
  })

  test('during a second read of it is delivered once, and a later one with its key is not', async () => {
    const { log, broker, ask, connect } = setUp()
    const { peer } = connect('a')
    log.write(created(1))
    await ask(peer, { records: pets(1) })
    const request = await broker.beginRequest(peer, 'reads')
    const position = log.head()
    log.write(updated(1))
    log.write(destroyed(1))
    await log.wake()
    broker.commitSubscriptions(request, { records: pets(1), models: [] }, position)
    log.write(created(1))
    log.write(updated(1))
    await log.wake()
    assert.deepEqual(peer.take(), ['updated pet 1', 'destroyed pet 1'])
  })

  for (const effect of ['reads', 'writes'] as const) {
    for (const rows of [[[destroyed(1), created(1)]], [[destroyed(1)], [created(1)]]]) {
      const when = rows.length === 1 ? 'in one operation' : 'in two operations'
      test(`during a request that ${effect} it, whose key is used again ${when}: the new record stays subscribed`, async () => {
        const { log, broker, ask, connect } = setUp()
        const { peer } = connect('a')
        log.write(created(1))
        await ask(peer, { records: pets(1), models: ['pet'] })
        const request = await broker.beginRequest(peer, effect)
        const position = effect === 'reads' ? log.head() : undefined
        for (const operation of rows) log.write(...operation)
        await log.wake()
        const models = effect === 'reads' ? ['pet'] : []
        broker.commitSubscriptions(request, { records: pets(1), models }, position)
        log.write(updated(1))
        await log.wake()
        assert.deepEqual(peer.take(), ['destroyed pet 1', 'created pet 1', 'updated pet 1'])
      })
    }
  }

  test('during a read of it ends the subscription of that read', async () => {
    const { log, broker, connect } = setUp()
    const { peer } = connect('a')
    const request = await broker.beginRequest(peer, 'reads')
    const position = log.head()
    log.write(destroyed(1))
    await log.wake()
    broker.commitSubscriptions(request, { records: pets(1), models: [] }, position)
    log.write(created(1))
    log.write(updated(1))
    await log.wake()
    assert.deepEqual(peer.take(), ['destroyed pet 1'])
  })
})

describe('a request that adds members', () => {
  const added = { model: 'user', id: 7, attribute: 'pets', target: 'pet' }
  const parent = [{ model: 'user', ids: [7] }]
  const petsOf = (events: readonly string[]) => events.filter((event) => event.includes('pet'))

  for (const isDeliveredFirst of [true, false]) {
    const when = isDeliveredFirst ? 'before' : 'after'
    test(`subscribes to those that are new, delivered ${when} its answer`, async () => {
      const { log, broker, connect } = setUp()
      const { peer } = connect('a')
      const request = await broker.beginRequest(peer, 'writes')
      log.write(moved(1, null, 7, 'b'), moved(2, null, 8, 'a'))
      log.write(moved(3, null, 7, 'a'), moved(4, 9, 7, 'a'), moved(5, 7, null, 'a'))
      log.write(updated(3))
      if (isDeliveredFirst) await log.wake()
      broker.commitSubscriptions(request, { records: parent, models: [], added }, undefined)
      await log.wake()
      assert.deepEqual(petsOf(peer.take()), ['updated pet 3'])
      log.write(updated(1), updated(2), updated(3), updated(4), updated(5))
      await log.wake()
      assert.deepEqual(petsOf(peer.take()), ['updated pet 3', 'updated pet 4'])
    })
  }

  test('subscribes to those that are new, of a record to which the socket was subscribed', async () => {
    const { log, broker, ask, connect } = setUp()
    const { peer } = connect('a')
    await ask(peer, { records: parent })
    const request = await broker.beginRequest(peer, 'writes')
    log.write(moved(3, null, 7, 'a'))
    log.write(updated(3))
    await log.wake()
    broker.commitSubscriptions(request, { records: parent, models: [], added }, undefined)
    assert.deepEqual(petsOf(peer.take()), ['updated pet 3'])
  })

  test('does not subscribe to members of a later request', async () => {
    const { log, ask, connect } = setUp()
    const { peer } = connect('a')
    await ask(peer, { records: parent, added })
    log.write(created(1))
    await log.wake()
    log.write(moved(1, null, 7, 'a'))
    log.write(updated(1))
    await log.wake()
    assert.deepEqual(petsOf(peer.take()), [])
  })
})

describe('a peer', () => {
  test('that disconnects in the middle of a delivery receives nothing more', async () => {
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

  test('that connects when the last one disconnects receives every event', async () => {
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

  test('is served after the log could not be read', async () => {
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

  test('that disconnects while the log cannot be read causes no error', async () => {
    const { log, broker, connect } = setUp()
    const { peer, connection } = connect('a')
    log.failing = new Error('the database is away')
    const beginning = broker.beginRequest(peer, 'reads')
    connection[Symbol.dispose]()
    await assert.rejects(beginning, log.failing)
    await turn()
  })
})

describe('a peer with too many subscriptions is reset', () => {
  test('by what it reads', async () => {
    const { log, ask, connect } = setUp({ maxSubscriptions: 3 })
    const { peer } = connect('a')
    await ask(peer, { records: pets(1, 2) })
    // The same records again add nothing.
    await ask(peer, { records: pets(1, 2, 3) })
    await ask(peer, { records: pets(1, 2, 3) })
    assert.equal(peer.resets, 0)
    await ask(peer, { records: pets(4) })
    assert.equal(peer.resets, 1)
    log.write(updated(1), updated(4))
    await log.wake()
    assert.deepEqual(peer.take(), [])
  })

  test('by new records', async () => {
    const { log, ask, connect } = setUp({ maxSubscriptions: 2 })
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

  test('but not by records that are gone again', async () => {
    const { log, ask, connect } = setUp({ maxSubscriptions: 2 })
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
