import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createService } from '../../index.ts'

for (const [what, origin, message] of [
  [
    'an origin',
    'http://localhost:5173',
    'Pages of http://localhost:5173 may not write to localhost:1337 unless cors lists their origin; a proxy in front must forward the Host header',
  ],
  [
    'no origin',
    'null',
    'Pages of other origins may not write to localhost:1337 unless cors lists their origin; a proxy in front must forward the Host header',
  ],
] as const)
  test(`the refusal of a page with ${what} names both sides`, async () => {
    await using service = await createService({
      database: 'sqlite::memory:',
      models: { pet: { attributes: { name: { type: 'string' } } } },
    })
    const response = await service.fetch(
      new Request('http://localhost:1337/pet', {
        method: 'POST',
        headers: { origin, host: 'localhost:1337', 'content-type': 'application/json' },
        body: '{}',
      }),
    )
    const { detail } = (await response.json()) as { detail: string }
    assert.deepEqual([response.status, detail], [403, message])
  })
