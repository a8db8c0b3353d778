import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createService } from '../../src/index.ts'
import { startPostgres } from '../support/embedded-postgres.ts'
import { missingPostgres } from '../support/postgres.ts'

const models = { pet: { attributes: { name: { type: 'string' } } } } as const
const stream = { Accept: 'text/event-stream' }

test('while the server is away, every kind of request gets 503', { skip: missingPostgres ?? false }, async (t) => {
  const own = await startPostgres().catch((error: Error) => error)
  if (own instanceof Error) return t.skip(own.message)
  let isRunning = true
  try {
    const errors: unknown[] = []
    const onError = (error: unknown) => void errors.push(error)
    await using service = await createService({ database: own.url, models, shapes: '/v1/shape', onError })
    const ask = (path: string, body?: object, headers: object = {}) =>
      service.fetch(
        new Request(`http://localhost${path}`, {
          headers: { ...(body && { 'Content-Type': 'application/json' }), ...headers },
          ...(body && { method: 'POST', body: JSON.stringify(body) }),
        }),
      )
    await service.system.records.pet.create({ name: 'Rex' })
    const position = (await ask('/pet')).headers.get('Keelson-Position') ?? ''
    own.stop()
    isRunning = false
    for (const [what, response] of Object.entries({
      'a list': ask('/pet'),
      'a list after a position': ask('/pet', undefined, { 'Keelson-After': position }),
      'a create': ask('/pet', { name: 'Tom' }),
      'a create with a key': ask('/pet', { name: 'Tom' }, { 'Idempotency-Key': 'a' }),
      'a batch with a key': ask('/batch', [{ method: 'POST', url: '/pet', body: {} }], { 'Idempotency-Key': 'b' }),
      'a stream': ask('/pet', undefined, stream),
      'a stream that continues': ask('/pet', undefined, { ...stream, 'Last-Event-ID': position }),
      'a live query': ask('/live', { queries: { pets: { model: 'pet' } } }),
      'a shape': ask('/v1/shape?table=pet&offset=-1'),
    })) {
      const { status, headers } = await response
      assert.deepEqual([what, status, headers.get('Retry-After')], [what, 503, '2'])
    }
    const { pet } = service.system.records
    for (const reading of [pet.find(), pet.live().next(), pet.liveQuery().next()])
      await assert.rejects(reading, { code: 'E_UNAVAILABLE', status: 503 })
  } finally {
    if (isRunning) own.stop()
  }
})
