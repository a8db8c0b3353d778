import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { action, createService } from '../../../src/index.ts'
import { errorText } from '../../../src/support/error-text.ts'

/* Only requests that never end are sent to this service: its limits are short. */

test('an action that takes too long is answered with 503, rolled back in a transaction, and its signal is aborted', async () => {
  const aborted = { inTransaction: Promise.withResolvers<void>(), outside: Promise.withResolvers<void>() }
  const until = (signal: AbortSignal) =>
    new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  await using service = await createService({
    database: 'sqlite::memory:',
    limits: { actionTimeoutMs: 50, transactionTimeoutMs: 50 },
    models: { pet: { attributes: { name: { type: 'string' } } } },
    actions: {
      inTransaction: action({
        on: 'service',
        run: async ({ system, signal }) => {
          const ended = until(signal)
          await system.records.pet.create({ name: 'Rex' })
          await ended
          aborted.inTransaction.resolve()
        },
      }),
      outside: action({
        on: 'service',
        transaction: false,
        run: async ({ signal }) => {
          await until(signal)
          aborted.outside.resolve()
        },
      }),
    },
  })
  for (const [name, limit] of [
    ['inTransaction', 'transactionTimeoutMs'],
    ['outside', 'actionTimeoutMs'],
  ] as const) {
    const response = await service.fetch(new Request(`http://localhost/${name}`, { method: 'POST' }))
    const { code, limit: named } = (await response.json()) as { code: string; limit: string }
    assert.deepEqual([response.status, code, named], [503, 'E_TIMEOUT', limit])
    await aborted[name].promise
  }
  assert.equal(await service.system.records.pet.count(), 0)
})

test('an action that ends with its signal, because its client has disconnected, is no error of the application', async () => {
  const errors: unknown[] = []
  const begun = new EventEmitter()
  const ended = Promise.withResolvers<unknown>()
  const until = action({
    on: 'service',
    transaction: false,
    run: async ({ signal }) => {
      begun.emit('begun')
      await setTimeout(60_000, undefined, { signal }).catch((error) => {
        ended.resolve(error)
        throw error
      })
    },
  })
  const fails = action({ on: 'service', transaction: false, run: () => assert.fail('no disk') })
  await using service = await createService({
    database: 'sqlite::memory:',
    models: { pet: { attributes: {} } },
    actions: { until, fails },
    onError: (error) => errors.push(error),
  })
  const { url } = await service.listen(0)
  const client = new AbortController()
  const left = fetch(`${url}/until`, { method: 'POST', signal: client.signal }).catch(() => {})
  await once(begun, 'begun')
  client.abort()
  await left
  assert.equal(((await ended.promise) as Error).name, 'AbortError')
  assert.equal((await fetch(`${url}/fails`, { method: 'POST' })).status, 500)
  assert.deepEqual(errors.map(errorText), ['no disk'])
})
