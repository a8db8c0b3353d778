import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { created, pet, pets, setUp, updated } from '../../../test/support/socket-broker.ts'
import { TurnCounter } from '../../../test/support/turn-counter.ts'

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

  const long = { ...updated(1), before: pet(1), after: pet(1, { name: 'x'.repeat(1_000) }) }
  for (const { what, limits, row, kept } of [
    { what: 'events', limits: { maxRecentEvents: 10 }, row: updated(1), kept: 10 },
    { what: 'bytes of events', limits: { maxRecentBytes: 11_000 }, row: long, kept: 10 },
  ]) {
    test(`a request that no more ${what} outlast than are kept receives them`, async () => {
      const { log, broker, connect } = setUp(limits)
      const { peer } = connect('a')
      const request = await broker.beginRequest(peer, 'reads')
      const position = log.head()
      for (let count = 0; count < kept; count++) log.write(row)
      await log.wake()
      broker.commitSubscriptions(request, { records: pets(1), models: [] }, position)
      assert.deepEqual([peer.take().length, peer.resets], [kept, 0])
    })

    test(`a request that more ${what} outlast than are kept is reset, and later ones are not`, async () => {
      const { log, broker, ask, connect } = setUp(limits)
      const { peer } = connect('a')
      const request = await broker.beginRequest(peer, 'reads')
      const position = log.head()
      for (let count = 0; count <= kept; count++) log.write(row)
      await log.wake()
      broker.commitSubscriptions(request, { records: pets(1), models: [] }, position)
      assert.equal(peer.resets, 1)
      for (let round = 0; round < 3; round++) await ask(peer, { records: pets(1) })
      log.write(row)
      await log.wake()
      assert.deepEqual([peer.take(), peer.resets], [['updated pet 1'], 1])
    })
  }

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

test('many peers that have disconnected are found in several turns of the event loop', async () => {
  const { log, ask, connect } = setUp()
  using counter = new TurnCounter()
  const turns = new Set<number>()
  for (let index = 0; index < 1200; index++) {
    const { peer, connection } = connect(`gone ${index}`)
    await ask(peer, { models: ['pet'] })
    peer.send = () => {
      turns.add(counter.turn)
      connection[Symbol.dispose]()
      return false
    }
  }
  log.write(created(1))
  await log.wake()
  assert.ok(turns.size >= 3, `in ${turns.size} turns`)
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
