import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { systemClock } from '../support/clock.ts'
import { defaultLimits } from '../support/limits.ts'
import { trimRegularly } from './trim-regularly.ts'

const limits = { ...defaultLimits, logKeepBytes: 800 }

function open(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const log = { size: 0, kept: 800, trims: 0, trim: async () => {} }
  const changes = {
    size: () => log.size,
    async trim() {
      log.trims++
      await log.trim()
      log.size = Math.min(log.size, log.kept)
    },
  }
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const trimming = trimRegularly({ changes }, limits, systemClock, onError)
  const stop = () => trimming[Symbol.dispose]()
  t.after(() => {
    stop()
    assert.deepEqual(errors, [])
  })
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms)
    for (let turns = 0; turns < 5; turns++) await turn()
  }
  return { log, pass, stop, errors }
}

test('the log is trimmed every minute', async (t) => {
  const { log, pass } = open(t)
  await pass(59_000)
  assert.equal(log.trims, 0)
  await pass(1_000)
  assert.equal(log.trims, 1)
})

test('and within a second when an eighth more than is kept was written', async (t) => {
  const { log, pass } = open(t)
  const trimsAt = async (size: number) => {
    log.size = size
    await pass(1_000)
    return log.trims
  }
  assert.deepEqual(await trimsAt(700), 0)
  assert.deepEqual(await trimsAt(901), 1)
  assert.deepEqual(await trimsAt(850), 1)
  assert.deepEqual(await trimsAt(901), 2)
})

test('what a trim does not delete is not trimmed again each second', async (t) => {
  const { log, pass } = open(t)
  log.kept = 5_000
  for (const [size, trims] of [
    [2_000, 1],
    [2_050, 1],
    [2_200, 2],
  ] as const) {
    log.size = size
    await pass(1_000)
    assert.equal(log.trims, trims, `at ${size}`)
  }
})

test('one trim is under way at a time', async (t) => {
  const { log, pass } = open(t)
  const { promise, resolve } = Promise.withResolvers<void>()
  log.trim = () => promise
  log.size = 2_000
  await pass(1_000)
  await pass(1_000)
  await pass(60_000)
  assert.equal(log.trims, 1)
  resolve()
  await pass(1_000)
  assert.equal(log.trims, 1)
})

test('a trim that fails is repeated with the next regular one', async (t) => {
  const { log, pass, errors } = open(t)
  log.trim = () => Promise.reject(new Error('canceled'))
  log.size = 2_000
  for (let seconds = 0; seconds < 10; seconds++) await pass(1_000)
  assert.equal(log.trims, 1)
  await pass(50_000)
  assert.equal(log.trims, 2)
  assert.equal(errors.splice(0).length, 2)
})

for (const [what, isStopped] of [
  ['is reported', false],
  ['that is under way at the stop is not', true],
] as const)
  test(`an error of a trim ${what}`, async (t) => {
    const { log, pass, stop, errors } = open(t)
    const { promise, reject } = Promise.withResolvers<void>()
    log.trim = () => promise
    await pass(60_000)
    if (isStopped) stop()
    reject(new Error('closed'))
    await pass(0)
    assert.deepEqual(
      errors.splice(0).map(String),
      isStopped ? [] : ['Error: The change log could not be trimmed: closed'],
    )
  })
