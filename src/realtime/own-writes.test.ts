import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { created, pets, type Row, setUp, updated } from '../../test/hub.ts'

describe('who causes a change', () => {
  test('does not hear of it, but follows what it made as a watcher', async () => {
    const { log, ask, connect } = setUp()
    const { peer } = connect('a')
    await ask(peer, { models: ['pet'] })
    log.write(created(1, 'a'))
    log.write(updated(1, 'b'))
    await log.wake()
    assert.deepEqual(peer.take(), ['updated pet 1'])
  })

  test('hears of it if it wants to', async () => {
    const { log, ask, connect } = setUp()
    const { peer } = connect('a', true)
    await ask(peer, { models: ['pet'] })
    log.write(created(1, 'a'))
    await log.wake()
    assert.deepEqual(peer.take(), ['created pet 1'])
  })
})

describe('who was told of others while it wrote', () => {
  const own = updated(1, 'a')
  const other = updated(1, 'b')
  const cases: readonly (readonly [
    what: string,
    rows: { readonly before?: Row; readonly during?: readonly Row[]; readonly after?: readonly Row[] },
    heard: readonly string[],
  ])[] = [
    ['hears of its own change, told before its answer', { during: [other, own] }, ['updated pet 1', 'updated pet 1']],
    ['told after its answer', { after: [other, own] }, ['updated pet 1', 'updated pet 1']],
    ['and the other before it', { during: [other], after: [own] }, ['updated pet 1', 'updated pet 1']],
    ['not if it knew before it began', { before: other, after: [own] }, []],
    ['not if the other came later', { during: [own], after: [other] }, ['updated pet 1']],
    ['not for another record', { during: [updated(2)], after: [own] }, ['updated pet 2']],
  ]
  for (const [what, { before, during = [], after = [] }, heard] of cases) {
    for (const isFollowed of [true, false]) {
      test(`${what}${isFollowed ? '' : ', of a record that it did not listen to'}`, async () => {
        const { log, hub, ask, connect } = setUp()
        const { peer } = connect('a')
        await ask(peer, { records: isFollowed ? pets(1, 2) : pets(2) })
        if (before) log.write(before)
        await log.wake()
        peer.take()
        const joining = await hub.begin(peer, 'writes')
        for (const row of during) log.write(row)
        await log.wake()
        for (const row of after) log.write(row)
        hub.join(joining, { records: pets(1), models: [] }, undefined)
        await log.wake()
        assert.deepEqual(peer.take(), heard)
        log.write(own)
        await log.wake()
        assert.deepEqual(peer.take(), [], 'and nothing is kept of it')
      })
    }
  }

  for (const isRefused of [false, true]) {
    test(`and was ${isRefused ? 'refused' : 'answered that it failed'} hears what it did after all: ${!isRefused}`, async () => {
      const { log, hub, ask, connect } = setUp()
      const { peer } = connect('a')
      await ask(peer, { records: pets(1) })
      hub.abandon(await hub.begin(peer, 'writes'), isRefused)
      log.write(own)
      await log.wake()
      assert.deepEqual(peer.take(), isRefused ? [] : ['updated pet 1'])
    })
  }

  test('is forgotten, though the log could not be read at first', async () => {
    const { log, hub, ask, connect, reported } = setUp()
    const { peer } = connect('a')
    await ask(peer, { records: pets(1) })
    const joining = await hub.begin(peer, 'writes')
    log.write(other)
    log.write(own)
    hub.join(joining, { records: pets(1), models: [] }, undefined)
    log.failing = new Error('the database is away')
    await log.wake()
    assert.deepEqual([peer.take(), reported], [[], [log.failing]])
    log.failing = undefined
    await log.wake()
    assert.deepEqual(peer.take(), ['updated pet 1', 'updated pet 1'])
    log.write(own)
    await log.wake()
    assert.deepEqual(peer.take(), [])
  })

  test('is forgotten, though what it wrote changed nothing', async () => {
    const { log, hub, ask, connect } = setUp()
    const { peer } = connect('a')
    await ask(peer, { records: pets(1) })
    await log.wake()
    const reads = log.reads
    for (let count = 0; count < 2_000; count++) {
      hub.join(await hub.begin(peer, 'writes'), { records: pets(1), models: [] }, undefined)
      if (count % 100 === 0) await turn()
    }
    assert.ok(log.reads > reads && log.reads < reads + 20, `${log.reads - reads} reads`)
  })
})
