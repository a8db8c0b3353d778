import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { created, destroyed, pets, setUp, updated } from '../../../test/support/socket-broker.ts'

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
