import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { created, destroyed, pets, setUp, updated } from '../../../test/support/socket-broker.ts'

const created1 = [{ model: 'pet', ids: [1], isCreated: true }]

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

  /** After which of the steps the feed delivers. */
  for (const delivered of ['nothing', 'destroyed', 'created'])
    for (const [what, later, received] of [
      ['does not end the subscription of a later create with its key', [], ['updated pet 1', 'updated pet 1']],
      ['of the created record ends its subscription', [destroyed(1), created(1)], ['destroyed pet 1']],
    ] as const)
      test(`${what}, where ${delivered} was delivered before it`, async () => {
        const { log, broker, ask, connect } = setUp()
        const { peer } = connect('a')
        log.write(created(1))
        await ask(peer, { records: pets(1) })
        log.write({ ...destroyed(1), origin: 'a' })
        const request = await broker.beginRequest(peer, 'writes')
        if (delivered === 'destroyed') await log.wake()
        log.write(created(1, 'a'))
        for (const change of later) log.write(change)
        if (delivered === 'created') await log.wake()
        broker.commitSubscriptions(request, { records: created1, models: [] }, undefined)
        for (let count = 0; count < 2; count++) {
          log.write(updated(1))
          await log.wake()
        }
        assert.deepEqual(peer.take(), received)
      })

  test('of an earlier record is not delivered to a socket that subscribed by creating a later one', async () => {
    const { log, broker, connect } = setUp()
    const { peer } = connect('a')
    const { peer: other } = connect('b')
    await broker.beginRequest(other, 'reads').then((request) => broker.abortRequest(request, true))
    log.write(created(1))
    log.write(destroyed(1))
    const request = await broker.beginRequest(peer, 'writes')
    log.write(created(1, 'a'))
    broker.commitSubscriptions(request, { records: created1, models: [] }, undefined)
    await log.wake()
    log.write(updated(1))
    log.write(destroyed(1))
    await log.wake()
    assert.deepEqual(peer.take(), ['updated pet 1', 'destroyed pet 1'])
  })

  test('between two creates of a socket does not end the subscription of the second', async () => {
    const { log, broker, connect } = setUp()
    const { peer } = connect('a')
    for (const count of [1, 2]) {
      const request = await broker.beginRequest(peer, 'writes')
      log.write(created(1, 'a'))
      broker.commitSubscriptions(request, { records: created1, models: [] }, undefined)
      if (count === 1) log.write(destroyed(1))
    }
    await log.wake()
    log.write(updated(1))
    await log.wake()
    assert.deepEqual(peer.take(), ['destroyed pet 1', 'updated pet 1'])
  })

  for (const models of [['pet'], []]) {
    const read = models.length > 0 ? 'a find' : 'a read'
    test(`of an earlier record does not end the subscription of ${read} that returns a later one with its key`, async () => {
      const { log, ask, connect } = setUp()
      const { peer } = connect('a')
      log.write(created(1))
      await ask(peer, { records: pets(1) })
      log.write(destroyed(1))
      log.write(created(1))
      log.write(updated(1))
      await ask(peer, { records: pets(1, 2), models })
      await log.wake()
      assert.deepEqual(peer.take(), ['destroyed pet 1'])
      log.write(updated(1))
      log.write(destroyed(1))
      log.write(created(1))
      log.write(updated(1))
      await log.wake()
      const followed = models.length > 0 ? ['created pet 1', 'updated pet 1'] : []
      assert.deepEqual(peer.take(), ['updated pet 1', 'destroyed pet 1', ...followed])
    })
  }
})
