import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { created, pets, type Row, setUp, updated } from '../../../test/support/socket-broker.ts'
import type { PendingRequest } from './socket-broker.ts'

describe('a socket that causes a change', () => {
  test('does not receive it, but is subscribed to a record that it created', async () => {
    const { log, ask, connect } = setUp()
    const { peer } = connect('a')
    await ask(peer, { models: ['pet'] })
    log.write(created(1, 'a'))
    log.write(updated(1, 'b'))
    await log.wake()
    assert.deepEqual(peer.take(), ['updated pet 1'])
  })

  test('receives it with mirror: true', async () => {
    const { log, ask, connect } = setUp()
    const { peer } = connect('a', { mirror: true })
    await ask(peer, { models: ['pet'] })
    log.write(created(1, 'a'))
    await log.wake()
    assert.deepEqual(peer.take(), ['created pet 1'])
  })
})

describe('a socket that receives changes by others during its write', () => {
  const own = updated(1, 'a')
  const other = updated(1, 'b')
  const cases: readonly (readonly [
    what: string,
    rows: { readonly before?: Row; readonly during?: readonly Row[]; readonly after?: readonly Row[] },
    received: readonly string[],
  ])[] = [
    [
      'receives its own change, delivered before its response',
      { during: [other, own] },
      ['updated pet 1', 'updated pet 1'],
    ],
    ['delivered after its response', { after: [other, own] }, ['updated pet 1', 'updated pet 1']],
    ['with the other one before it', { during: [other], after: [own] }, ['updated pet 1', 'updated pet 1']],
    ['not if the other one was delivered before it began', { before: other, after: [own] }, []],
    ['not if the other one is later', { during: [own], after: [other] }, ['updated pet 1']],
    ['not for another record', { during: [updated(2)], after: [own] }, ['updated pet 2']],
  ]
  for (const [what, { before, during = [], after = [] }, received] of cases) {
    for (const isFollowed of [true, false]) {
      test(`${what}${isFollowed ? '' : ', of a record without an earlier subscription'}`, async () => {
        const { log, broker, ask, connect } = setUp()
        const { peer } = connect('a')
        await ask(peer, { records: isFollowed ? pets(1, 2) : pets(2) })
        if (before) log.write(before)
        await log.wake()
        peer.take()
        const request = await broker.beginRequest(peer, 'writes')
        for (const row of during) log.write(row)
        await log.wake()
        for (const row of after) log.write(row)
        broker.commitSubscriptions(request, { records: pets(1), models: [] }, undefined)
        await log.wake()
        assert.deepEqual(peer.take(), received)
        log.write(own)
        await log.wake()
        assert.deepEqual(peer.take(), [], 'and nothing of it is kept')
      })
    }
  }

  for (const isRefused of [false, true]) {
    test(`that is answered with ${isRefused ? 'a refusal' : 'an error'} receives the change if it was committed: ${!isRefused}`, async () => {
      const { log, broker, ask, connect } = setUp()
      const { peer } = connect('a')
      await ask(peer, { records: pets(1) })
      broker.abortRequest(await broker.beginRequest(peer, 'writes'), isRefused)
      log.write(own)
      await log.wake()
      assert.deepEqual(peer.take(), isRefused ? [] : ['updated pet 1'])
    })
  }

  test('forgets the write, although the log could not be read at first', async () => {
    const { log, broker, ask, connect, reported } = setUp()
    const { peer } = connect('a')
    await ask(peer, { records: pets(1) })
    const request = await broker.beginRequest(peer, 'writes')
    log.write(other)
    log.write(own)
    broker.commitSubscriptions(request, { records: pets(1), models: [] }, undefined)
    log.failing = new Error('the database is away')
    await log.wake()
    assert.deepEqual([peer.take(), reported.map((error) => (error as Error).cause)], [[], [log.failing]])
    log.failing = undefined
    await log.wake()
    assert.deepEqual(peer.take(), ['updated pet 1', 'updated pet 1'])
    log.write(own)
    await log.wake()
    assert.deepEqual(peer.take(), [])
  })

  test('forgets a write that changed nothing', async () => {
    const { log, broker, ask, connect } = setUp()
    const { peer } = connect('a')
    await ask(peer, { records: pets(1) })
    await log.wake()
    const reads = log.reads
    for (let count = 0; count < 2_000; count++) {
      broker.commitSubscriptions(await broker.beginRequest(peer, 'writes'), { records: pets(1), models: [] }, undefined)
      if (count % 100 === 0) await turn()
    }
    assert.ok(log.reads > reads && log.reads < reads + 20, `${log.reads - reads} reads`)
  })
})

describe('a socket that reads while it writes', () => {
  const own = [created(1, 'a'), updated(2, 'a')]
  const both = ['created pet 1', 'updated pet 2']
  for (const isFollowed of [true, false])
    for (const [what, steps, received] of [
      [
        'receives what an answer may lack',
        ['read', 'write', 'answer to the write', 'feed', 'answer to the read'],
        both,
      ],
      ['also if it is delivered later', ['read', 'write', 'answer to the write', 'answer to the read', 'feed'], both],
      [
        'also if the read began second',
        ['begin', 'read', 'write', 'answer to the write', 'answer to the read', 'feed'],
        both,
      ],
      [
        'not if the read began after the answer',
        ['write', 'answer to the write', 'read', 'feed', 'answer to the read'],
        [],
      ],
      [
        'not if the read was answered before',
        ['read', 'answer to the read', 'write', 'answer to the write', 'feed'],
        [],
      ],
      ['not if the read has failed', ['read', 'write', 'answer to the write', 'failure of the read', 'feed'], []],
    ] as const)
      test(`${what}${isFollowed ? '' : ', without an earlier subscription'}`, async () => {
        const { log, broker, ask, connect } = setUp()
        const { peer } = connect('a')
        if (isFollowed) await ask(peer, { records: pets(2), models: ['pet'] })
        let read: PendingRequest | undefined
        let position: string | undefined
        let write: PendingRequest | undefined
        const all = { records: pets(2), models: ['pet'] }
        for (const step of steps)
          switch (step) {
            case 'read':
              position = log.head()
              read = await broker.beginRequest(peer, 'reads')
              break
            case 'begin':
              write = await broker.beginRequest(peer, 'writes')
              break
            case 'write':
              write ??= await broker.beginRequest(peer, 'writes')
              log.write(...own)
              break
            case 'answer to the write':
              broker.commitSubscriptions(write as PendingRequest, { records: [], models: [] }, undefined)
              break
            case 'feed':
              await log.wake()
              break
            case 'answer to the read':
              broker.commitSubscriptions(read as PendingRequest, all, position)
              break
            case 'failure of the read':
              broker.abortRequest(read as PendingRequest, false)
          }
        await log.wake()
        assert.deepEqual(peer.take(), received)
        log.write(...own)
        await log.wake()
        assert.deepEqual(peer.take(), [], 'and nothing of it is kept')
      })
})
