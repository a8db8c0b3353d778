import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { created, destroyed, moved, pet, pets, setUp, updated } from '../../test/hub.ts'

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
