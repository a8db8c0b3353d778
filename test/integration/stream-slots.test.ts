import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { SailsClient } from '../support/sails-client.ts'

/* A stream that no client reads holds none of the places that `maxStreams` allows. */

const open = () =>
  createService({
    database: 'sqlite::memory:',
    shapes: '/v1/shape',
    limits: { maxStreams: 1 },
    models: { pet: { attributes: { name: { type: 'string' } } } },
  })
type TestService = Awaited<ReturnType<typeof open>>

const json = { 'Content-Type': 'application/json' }
const post = (service: TestService, path: string, body: unknown) =>
  service.fetch(new Request(`http://localhost${path}`, { method: 'POST', headers: json, body: JSON.stringify(body) }))

/** The offset of a shape that has been read, as the parameters of its next request. */
async function offsetOf(service: TestService): Promise<string> {
  const { headers } = await service.fetch(new Request('http://localhost/v1/shape?table=pet&offset=-1'))
  return `offset=${headers.get('electric-offset')}&handle=${headers.get('electric-handle')}`
}

async function statusOfStream(service: TestService): Promise<number> {
  const { status, body } = await service.fetch(
    new Request('http://localhost/pet', { headers: { accept: 'text/event-stream' } }),
  )
  await body?.cancel()
  return status
}

const live = { method: 'POST', url: '/live', body: { queries: { a: { model: 'pet' } } } }
const shape = async (service: TestService) => ({
  method: 'GET',
  url: `/v1/shape?table=pet&${await offsetOf(service)}&live=true&live_sse=true`,
})

describe('what is answered with a stream is no request of a batch', () => {
  for (const atomic of [true, false])
    for (const [name, itemOf] of [
      ['live queries', async () => live],
      ['live queries, in other letters', async () => ({ ...live, url: '/LIVE/' })],
      ['live queries, by a relative address', async () => ({ ...live, url: 'live' })],
      ['a shape', shape],
    ] as const)
      test(`${name}, ${atomic ? 'atomic' : 'one by one'}`, async () => {
        await using service = await open()
        const batch = [{ method: 'POST', url: '/pet', body: { name: 'Rex' } }, await itemOf(service)]
        const response = await post(service, `/batch?atomic=${atomic}`, batch)
        const { code, detail } = (await response.json()) as Record<string, unknown>
        assert.deepEqual([response.status, code], [400, 'E_BAD_BODY'])
        assert.match(String(detail), /^Request 1 of the batch is /)
        assert.equal(await service.system.records.pet.count(), 0)
        assert.equal(await statusOfStream(service), 200)
      })

  test('an address that refers to an earlier answer', async () => {
    await using service = await open()
    for (const name of ['live', 'batch', 'v1/shape']) {
      const named = { method: 'POST', url: '/pet', body: { name } }
      const response = await post(service, '/batch?atomic=false', [named, { ...live, url: '/$0.name' }])
      const [first, second] = (await response.json()) as { status: number; body: Record<string, unknown> }[]
      assert.equal(first?.status, 201)
      assert.ok([400, 404].includes(second?.status ?? 0), JSON.stringify(second))
      assert.equal(await statusOfStream(service), 200)
    }
  })
})

describe('a shape over a socket', () => {
  test('is not answered with a stream', async () => {
    await using service = await open()
    const { url } = await service.listen(0, '127.0.0.1')
    const client = await SailsClient.connect(url, { transports: ['websocket'] })
    try {
      const item = await shape(service)
      const { statusCode, body } = await client.ask('get', item.url)
      assert.deepEqual([statusCode, body.code], [400, 'E_BAD_REQUEST'])
      assert.match(body.detail, /socket/)
      assert.equal(await statusOfStream(service), 200)
    } finally {
      client.close()
    }
  })
})
