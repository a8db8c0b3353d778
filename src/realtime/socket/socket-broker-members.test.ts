import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { created, moved, setUp, updated } from '../../../test/support/socket-broker.ts'

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
