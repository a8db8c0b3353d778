import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../protocol/errors.ts'
import { TimeLimit } from './time-limit.ts'

test('no statement of a write begins when its time is over', (t) => {
  let now = 1_000
  t.mock.method(performance, 'now', () => now)
  const limit = new TimeLimit(60_000, 'writeTimeoutMs')
  limit.assertLeft()
  now += 59_999
  limit.assertLeft()
  now += 1
  assert.throws(
    () => limit.assertLeft(),
    (error) => error instanceof ServiceError && error.code === 'E_TIMEOUT' && error.details.limit === 'writeTimeoutMs',
  )
})

test('a transaction whose time is over is not begun again', async (t) => {
  let now = 1_000
  t.mock.method(performance, 'now', () => now)
  const limit = new TimeLimit(60_000)
  assert.equal(await limit.run(() => 'first'), 'first')
  now += 60_001
  await assert.rejects(
    limit.run(() => assert.fail('the work is run')),
    (error) => error instanceof ServiceError && error.details.limit === 'transactionTimeoutMs',
  )
})
