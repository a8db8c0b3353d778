import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { created, destroyed, pets, setUp, type TestPeer, updated } from '../../../test/support/socket-broker.ts'

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

test('when all peers together have too many subscriptions, the one with the most is reset', async () => {
  const { log, ask, connect } = setUp({ maxSubscribedRecords: 5 })
  const [first, most, last] = ['a', 'b', 'c'].map((id) => connect(id).peer) as [TestPeer, TestPeer, TestPeer]
  await ask(first, { records: pets(1) })
  await ask(most, { records: pets(1, 2, 3) })
  await ask(last, { records: pets(3) })
  assert.deepEqual([first.resets, most.resets, last.resets], [0, 0, 0])
  await ask(last, { records: pets(4) })
  assert.deepEqual([first.resets, most.resets, last.resets], [0, 1, 0])
  await ask(first, { records: pets(1, 2, 3, 5, 6) })
  assert.deepEqual([first.resets, most.resets, last.resets], [1, 1, 0])
  log.write(updated(3))
  await log.wake()
  assert.deepEqual([first.take(), most.take(), last.take()], [[], [], ['updated pet 3']])
})
