import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { owner, pet, rest, settle, setUp, take } from '../../../test/support/event-iterator.ts'
import { parseWhere } from '../../criteria/parse-where.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { defaultLimits } from '../../support/limits.ts'

describe('the end', () => {
  test('comes at once while a `next` is pending', async () => {
    const { log, open } = setUp()
    const live = open()
    await take(live, 1)
    const waiting = live.next()
    await settle()
    await live.return()
    assert.deepEqual(await waiting, { done: true, value: undefined })
    assert.equal(log.listeners.size, 0)
    assert.deepEqual(await live.next(), { done: true, value: undefined })
  })

  test('comes to an iterator that has not begun', async () => {
    const { log, open } = setUp()
    const live = open()
    await live.return()
    assert.deepEqual(await live.next(), { done: true, value: undefined })
    assert.equal(log.listeners.size, 0)
  })

  test('of the service is `shutdown`, with the position after the last item', async () => {
    const { log, iterators, open } = setUp()
    const live = open()
    await take(live, 1)
    const first = live.next()
    await settle()
    for (let count = 0; count < 3; count++) log.write()
    await first
    await settle()
    iterators.stop()
    assert.deepEqual(await rest(live), [{ kind: 'shutdown', position: '1' }])
  })

  test('of the service does not skip events that wait for the database', async () => {
    let answer = (_: ReadonlyMap<number, JsonObject>) => {}
    const where = parseWhere({ name: { '!=': 'x' } }, owner, defaultLimits)
    const { log, iterators, open } = setUp(
      { target: { model: owner, where } },
      () => new Promise((resolve) => (answer = resolve)),
    )
    log.write('owner')
    const live = open()
    await take(live, 1)
    const waiting = live.next()
    await settle()
    const after = { id: 2, name: 'Rex', owner: 1 }
    log.changes.push({ position: '2', operation: '2', model: 'pet', verb: 'created', id: 2, after, at: '' })
    for (const listener of log.listeners) listener()
    await settle()
    iterators.stop()
    answer(new Map([[1, { id: 1, name: 'Ann' }]]))
    assert.deepEqual((await waiting).value, { kind: 'shutdown', position: '1' })
  })

  test('of the service is `shutdown` also while the log is read', async () => {
    const { log, iterators, open } = setUp()
    for (let count = 0; count < 3; count++) log.write()
    const live = open({ since: '0' })
    await take(live, 2)
    iterators.stop()
    log.failing = new Error('closed')
    assert.deepEqual(await rest(live), [{ kind: 'shutdown', position: '1' }])
  })

  test('is an error when the log cannot be read', async () => {
    const { log, open } = setUp()
    const live = open()
    await take(live, 1)
    log.failing = new Error('no log')
    await assert.rejects(live.next(), /no log/)
    assert.deepEqual(await live.next(), { done: true, value: undefined })
    assert.equal(log.listeners.size, 0)
  })

  test('of a record ends its subscription', async () => {
    const { log, open } = setUp({ target: { model: pet, id: 1 } })
    const live = open()
    await take(live, 1)
    log.write()
    log.changes.push({
      position: '2',
      operation: '2',
      model: 'pet',
      verb: 'destroyed',
      id: 1,
      before: { id: 1 },
      at: '',
    })
    log.write()
    const items = await rest(live)
    assert.deepEqual(
      items.map((item) => (item.kind === 'operation' ? item.events.map(({ verb }) => verb) : item.kind)),
      [['created'], ['destroyed']],
    )
    assert.equal(log.listeners.size, 0)
  })
})
