import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { blockEventLoop } from '../../../test/support/block-event-loop.ts'
import { pets, setUp, updated } from '../../../test/support/socket-broker.ts'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import { getOrInsertComputed } from '../../support/get-or-insert-computed.ts'
import { everythingVisible, fullView, type Listener, type View, type Visibility } from '../visibility.ts'

/* Rules of pets that pass through their owners: a change of an owner that decides them is a fresh start for the socket. */

function ruled(): Visibility & { throws: boolean } {
  const ofPets: View = { key: 'pets of owners' }
  const deciding = new Set<string>()
  return {
    ...everythingVisible,
    throws: false,
    isRestricted: (model) => model === 'pet',
    hidesRecords: (model) => model === 'pet',
    viewOf(_, model) {
      if (this.throws) throw new Error('a rule')
      if (model !== 'pet') return fullView
      deciding.add('user')
      return ofPets
    },
    judge: (_, events, views) => new Map([...views].map((view) => [view, events.map(({ images }) => images)])),
    decidesRights: (model) => deciding.has(model),
    changesRights: (view, changes) => view === ofPets && changes.some(({ model }) => model === 'user'),
  }
}

const owner = (id: number, origin?: string) => ({ ...updated(id, origin), model: 'user' })

describe('a change of another model that decides rights', () => {
  for (const [title, requested] of [
    ['records', { records: pets(1) }],
    ['new records', { models: ['pet'] }],
  ] as const) {
    test(`after the first request for ${title}`, async () => {
      const { log, ask, connect } = setUp({ visibility: ruled() })
      const { peer } = connect('a')
      await ask(peer, requested)
      log.write(owner(1))
      await log.wake()
      assert.equal(peer.resets, 1)
    })
  }

  test('of a socket that has requested other models only', async () => {
    const { log, ask, connect } = setUp({ visibility: ruled() })
    const { peer } = connect('a')
    await ask(peer, { models: ['user'] })
    log.write(owner(1))
    await log.wake()
    assert.equal(peer.resets, 0)
  })

  const moments = [
    ['that the read has seen', true, 0],
    ['that the read has not seen', false, 1],
  ] as const
  for (const [title, isSeen, resets] of moments) {
    test(`delivered during a read, ${title}`, async () => {
      const { log, broker, connect } = setUp({ visibility: ruled() })
      const { peer } = connect('a')
      const request = await broker.beginRequest(peer, 'reads')
      const before = log.head()
      log.write(owner(1))
      const position = isSeen ? log.head() : before
      await log.wake()
      broker.commitSubscriptions(request, { records: pets(1), models: [] }, position)
      assert.equal(peer.resets, resets)
    })
  }

  for (const [whose, origin, resets] of [
    ['of another client', 'b', 1],
    ['of its own', 'a', 0],
  ] as const) {
    test(`delivered during a write, ${whose}`, async () => {
      const { log, broker, connect } = setUp({ visibility: ruled() })
      const { peer } = connect('a')
      const request = await broker.beginRequest(peer, 'writes')
      log.write(owner(1, origin))
      await log.wake()
      broker.commitSubscriptions(request, { records: pets(1), models: [] }, undefined)
      assert.equal(peer.resets, resets)
    })
  }

  test('delivered before the request began, beside a longer one', async () => {
    const { log, broker, ask, connect } = setUp({ visibility: ruled() })
    const [long, peer] = [connect('a').peer, connect('b').peer]
    await broker.beginRequest(long, 'reads')
    log.write(owner(1))
    await log.wake()
    const request = await broker.beginRequest(peer, 'writes')
    broker.commitSubscriptions(request, { records: pets(1), models: [] }, undefined)
    await ask(peer, { records: pets(1) })
    assert.equal(peer.resets, 0)
  })

  test('more operations during a read than are kept are a fresh start', async () => {
    const { log, broker, connect } = setUp({ visibility: ruled(), maxRecentEvents: 10 })
    const { peer } = connect('a')
    const request = await broker.beginRequest(peer, 'reads')
    const position = log.head()
    for (let id = 1; id <= 11; id++) log.write(updated(id))
    await log.wake()
    broker.commitSubscriptions(request, { records: pets(1), models: [] }, position)
    assert.equal(peer.resets, 1)
  })

  test('and not for a read that has begun since most of them', async () => {
    const { log, broker, connect } = setUp({ visibility: ruled(), maxRecentEvents: 10 })
    const [long, peer] = [connect('a').peer, connect('b').peer]
    const before = await broker.beginRequest(long, 'reads')
    const position = log.head()
    for (let id = 1; id <= 9; id++) log.write(updated(id))
    await log.wake()
    const request = await broker.beginRequest(peer, 'reads')
    const later = log.head()
    for (let id = 10; id <= 12; id++) log.write(updated(id))
    await log.wake()
    broker.commitSubscriptions(request, { records: pets(1, 12), models: [] }, later)
    broker.commitSubscriptions(before, { records: pets(1), models: [] }, position)
    assert.deepEqual([long.resets, peer.resets], [1, 0])
    assert.deepEqual(peer.take(), ['updated pet 12'])
  })

  test('a rule that throws is not the failure of a request that was answered', async () => {
    const visibility = ruled()
    visibility.throws = true
    const { ask, connect } = setUp({ visibility })
    const { peer } = connect('a')
    await ask(peer, { records: pets(1), models: ['pet'] })
    assert.equal(peer.resets, 0)
  })

  test('is no fresh start for a socket that has disconnected while others were compared', async () => {
    const rules = ruled()
    const left: Disposable[] = []
    const leave = () => {
      for (const connection of left) connection[Symbol.dispose]()
    }
    const changesRights: Visibility['changesRights'] = (...given) => {
      leave()
      return rules.changesRights(...given)
    }
    const { log, ask, connect } = setUp({ visibility: { ...rules, changesRights } })
    const [first, second] = [connect('a'), connect('b')]
    for (const { peer } of [first, second]) await ask(peer, { records: pets(1) })
    left.push(second.connection)
    log.write(owner(1))
    await log.wake()
    assert.deepEqual([first.peer.resets, second.peer.resets], [1, 0])
  })

  test('is compared with as many views as there are users in turns of the event loop', async () => {
    const views = new WeakMap<Listener, View>()
    const turns = new Set<number>()
    using counter = new TurnCounter()
    const visibility: Visibility = {
      ...ruled(),
      viewOf: (listener) => getOrInsertComputed(views, listener, () => ({ key: 'of one user' })),
      decidesRights: () => true,
      changesRights() {
        turns.add(counter.turn)
        blockEventLoop(1)
        return false
      },
    }
    const { log, ask, connect } = setUp({ visibility })
    const connected = Array.from({ length: 50 }, (_, id) => {
      return connect(`${id}`, { requester: { kind: 'user', user: { id } } })
    })
    for (const { peer } of connected) await ask(peer, { records: pets(1) })
    log.write(owner(1))
    await log.wake()
    assert.ok(turns.size >= 4, `${turns.size} turns`)
  })
})

test('what sockets may see of many records that one operation has changed is looked up a few times for each delivery', async () => {
  const visibility = ruled()
  let lookups = 0
  const { log, ask, connect } = setUp({
    visibility: {
      ...visibility,
      viewOf(...args) {
        lookups++
        return visibility.viewOf(...args)
      },
    },
  })
  const [ids, count] = [Array.from({ length: 50 }, (_, index) => index + 1), 20]
  const peers = Array.from({ length: count }, (_, id) => connect(`${id}`).peer)
  for (const peer of peers) await ask(peer, { records: pets(...ids) })
  lookups = 0
  log.write(...ids.map((id) => updated(id)))
  await log.wake()
  for (const { received } of peers) assert.equal(received.length, ids.length)
  assert.ok(lookups <= 3 * ids.length * count, `${lookups} for ${ids.length * count} deliveries`)
})
