import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import type { ChangeLog } from '../../storage/change-log.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import { ReadPosition } from './read-position.ts'

/** A log whose head is read until the test says how that ends. */
function logThatWaits() {
  const reads: PromiseWithResolvers<string>[] = []
  const log = {
    head() {
      const read = Promise.withResolvers<string>()
      reads.push(read)
      return read.promise
    },
    reaches: () => true,
  }
  const errors: unknown[] = []
  const position = new ReadPosition(log as unknown as ChangeLog, (error) => errors.push(error))
  return { reads, errors, position }
}

describe('the position that answers name', () => {
  test('is read beside the requests, once for those of a turn', async () => {
    const { reads, errors, position } = logThatWaits()
    assert.equal(position.renew(), undefined)
    position.renew()
    await setImmediate()
    assert.equal(reads.length, 1)
    reads[0]?.resolve('1')
    await setImmediate()
    assert.equal(position.renew(), '1')
    assert.deepEqual(errors, [])
  })

  test('that cannot be read is reported, and read again', async () => {
    const { reads, errors, position } = logThatWaits()
    position.renew()
    await setImmediate()
    reads[0]?.reject(new Error('the server is away'))
    await setImmediate()
    assert.deepEqual(errors.map(String), [
      'Error: The position of the change log could not be read: the server is away',
    ])
    position.renew()
    await setImmediate()
    assert.equal(reads.length, 2)
  })

  test('is not read after a service has closed', async () => {
    const { reads, errors, position } = logThatWaits()
    position.renew()
    position.stop()
    await setImmediate()
    assert.equal(reads.length, 0)
    assert.deepEqual(errors, [])
  })

  test('is not reported when the service closes while it is read', async () => {
    const { reads, errors, position } = logThatWaits()
    position.renew()
    await setImmediate()
    position.stop()
    reads[0]?.reject(new Error('database is not open'))
    await setImmediate()
    assert.deepEqual(errors, [])
  })
})

test('requests that wait for a position share the reads of it', async () => {
  let reads = 0
  let checks = 0
  let isReached = false
  const log = {
    head: () => {
      reads++
      return Promise.resolve(String(reads))
    },
    reaches: (_: string, target: string) => {
      if (target === 'later') checks++
      return target !== 'later' || isReached
    },
  }
  const position = new ReadPosition(log as unknown as ChangeLog, (error) => assert.fail(String(error)))
  const waiting = Array.from({ length: 200 }, () => position.waitFor('later', 10_000))
  while (checks < 2000) await setTimeout(1)
  assert.ok(reads <= 100, `${reads} reads for 200 requests`)
  isReached = true
  await Promise.all(waiting)
  position.stop()
})

test('requests that have waited for a position are answered in several turns of the event loop', async () => {
  using counter = new TurnCounter()
  let isReached = false
  const log = { head: () => setTimeout(20, '1'), reaches: () => isReached }
  const position = new ReadPosition(log as unknown as ChangeLog, (error) => assert.fail(String(error)))
  const turns = new Set<number>()
  const answer = async () => {
    for (let steps = 0; steps < 10; steps++) await undefined
    turns.add(counter.turn)
    while (!eventLoopTurn.isUsed);
  }
  const waiting = Array.from({ length: 5 }, () => position.waitFor('2', 10_000)?.then(answer))
  await setTimeout(1)
  isReached = true
  await Promise.all(waiting)
  position.stop()
  assert.equal(turns.size, 5)
})
