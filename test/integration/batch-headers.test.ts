import assert from 'node:assert/strict'
import { test } from 'node:test'
import { action, createService } from '../../src/index.ts'

/* The headers of a batch are those of each of its requests, but for those that concern the batch as a whole. */

for (const atomic of [true, false])
  test(`the headers that an action is given in a batch, ${atomic ? 'atomic' : 'one by one'}`, async () => {
    await using service = await createService({
      database: 'sqlite::memory:',
      models: { pet: { attributes: { name: { type: 'string' } } } },
      actions: { tenant: action({ on: 'service', run: ({ headers }) => headers['x-tenant'] ?? null }) },
    })
    const headers = { 'Content-Type': 'application/json', 'X-Tenant': 'acme' }
    const body = JSON.stringify([{ method: 'POST', url: '/tenant' }])
    const response = await service.fetch(
      new Request(`http://localhost/batch?atomic=${atomic}`, { method: 'POST', headers, body }),
    )
    const [answer] = (await response.json()) as { body: unknown }[]
    assert.equal(answer?.body, 'acme')
  })

test('headers that concern the batch as a whole are not those of its requests', async () => {
  await using service = await createService({
    database: 'sqlite::memory:',
    models: { pet: { attributes: { name: { type: 'string' } } } },
  })
  const body = JSON.stringify([{ method: 'POST', url: '/pet', body: { name: 'Rex' } }])
  const answers = async (own: Readonly<Record<string, string>>) => {
    const headers = { 'Content-Type': 'application/json', ...own }
    const request = new Request('http://localhost/batch?atomic=false', { method: 'POST', headers, body })
    const [answer] = (await (await service.fetch(request)).json()) as { status: number }[]
    return answer?.status
  }
  for (const header of ['If-Match', 'If-None-Match']) assert.equal(await answers({ [header]: '"a"' }), 201, header)
  assert.equal(await answers({ Accept: 'text/event-stream' }), 201)
})
