import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { eventually } from '../../test/support/eventually.ts'
import { created, pet, pets, type Row, setUp, updated } from '../../test/support/socket-broker.ts'
import type { SubscriptionRequest } from './socket/subscription-request.ts'

describe('changes are read', () => {
  const user: Row = { model: 'user', verb: 'created', id: 1, after: { id: 1, name: 'Ann' } }
  const lives: Row = { model: 'pet', verb: 'updated', id: 1, before: pet(1), after: pet(1, { owner: 1 }) }
  const cases: readonly (readonly [what: string, follow: Partial<SubscriptionRequest>, row: Row, isRead: boolean])[] = [
    ['of a record with a subscription', { records: pets(1) }, updated(1), true],
    ['of others of its model', { records: pets(1) }, updated(2), true],
    ['of a model that is target', { models: ['pet'] }, created(1), true],
    ['of members, for a subscription to their owner', { records: [{ model: 'user', ids: [1] }] }, lives, true],
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

  test('of every model, while a request is under way', async () => {
    const { log, broker, connect } = setUp()
    const { peer } = connect('a')
    const request = await broker.beginRequest(peer, 'reads')
    log.write(user)
    await log.wake()
    assert.deepEqual(log.wanted, ['user'])
    broker.commitSubscriptions(request, { records: [], models: [] }, '0')
    log.write(user)
    await log.wake()
    assert.deepEqual(log.wanted, ['user'])
  })
})

describe('a long delivery', () => {
  test('yields to the event loop', async () => {
    const { log, ask, connect } = setUp()
    const { peer } = connect('a')
    await ask(peer, { records: pets(1) })
    for (let count = 0; count < 2000; count++) log.write(updated(1))
    const waking = log.wake()
    await turn()
    assert.ok(peer.received.length < 2000)
    await waking
    await eventually(() => peer.received.length >= 2000)
    assert.equal(peer.received.length, 2000)
  })

  test('of one large operation yields as well, also where it concerns few subscribers', async () => {
    const { log, broadcaster, ask, connect } = setUp()
    const { peer } = connect('a')
    await ask(peer, { records: pets(1) })
    log.write(...Array.from({ length: 2_000 }, (_, index) => updated(index + 1)))
    const waking = log.wake()
    let turns = 0
    for (; broadcaster.position !== log.head(); turns++) await turn()
    assert.ok(turns >= 9, `${turns} turns`)
    assert.deepEqual(peer.take(), ['updated pet 1'])
    await waking
  })

  test('does not reach a subscriber that comes after all others have left in the middle of it', async () => {
    const { log, broker, ask, connect } = setUp()
    const before = Array.from({ length: 600 }, (_, index) => connect(`before ${index}`))
    for (const { peer } of before) await ask(peer, { models: ['pet'] })
    log.write(created(1))
    const waking = log.wake()
    await turn()
    const received = before.filter(({ peer }) => peer.received.length > 0).length
    assert.ok(received > 0 && received < before.length, `${received} have received it`)
    for (const { connection } of before) connection[Symbol.dispose]()
    await Promise.resolve().then() // no subscriber is left, and the delivery has not continued
    log.write(created(2))
    const { peer } = connect('after')
    broker.commitSubscriptions(await broker.beginRequest(peer, 'writes'), { records: [], models: ['pet'] }, undefined)
    await waking
    assert.deepEqual(peer.take(), [])
    log.write(created(3))
    await log.wake()
    assert.deepEqual(peer.take(), ['created pet 3'])
  })
})

describe('the last subscriber', () => {
  test('that leaves while there are changes to read causes no error', async () => {
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

  test('that leaves during a read does not cause its error to be reported', async () => {
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
})
