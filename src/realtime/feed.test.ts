import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { created, pet, pets, type Row, setUp, updated } from '../../test/hub.ts'
import type { Follow } from './hub.ts'

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

describe('the last one who listens', () => {
  test('and goes just as there is something to read leaves nothing that fails', async () => {
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

  test('and goes while the log is read hears of nothing that breaks then', async () => {
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
