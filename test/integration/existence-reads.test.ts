import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createService } from '../../src/index.ts'

/** Requests that name an owner or a pet, and how many of their statements read or return the long texts of owners. */
const requests: readonly (readonly [method: string, url: string, body: object | undefined, long: number])[] = [
  ['POST', '/owner?upsert=code&populate=false', { code: 'a', name: 'Ada' }, 1],
  ['GET', '/owner/1/pets?populate=false', undefined, 0],
  ['PUT', '/owner/1/pets?populate=false', [1], 1],
  ['DELETE', '/owner/1/pets/1?populate=false', undefined, 1],
  ['PUT', '/owner/1/pets/1?populate=false', undefined, 1],
  ['POST', '/pet?populate=false', { owner: 1 }, 0],
  ['POST', '/pet?populate=false', { owner: 7 }, 0],
  ['PATCH', '/owner/7?populate=false', { code: 'b' }, 1],
]

test('whether a record exists is asked without its values, which may have megabytes', async () => {
  let statements: string[] = []
  await using service = await createService({
    database: 'sqlite::memory:',
    models: {
      owner: {
        attributes: {
          code: { type: 'string', unique: true },
          name: { type: 'string' },
          long: { type: 'string' },
          pets: { collection: 'pet', via: 'owner' },
        },
      },
      pet: { attributes: { owner: { model: 'owner' } } },
    },
    logger: {
      info() {},
      warn() {},
      error() {},
      debug: (data) => {
        const { kind, text } = data as { readonly kind?: string; readonly text?: string }
        if (kind === 'statement' && text) statements.push(text)
      },
    },
  })
  await service.system.records.owner.create({ code: 'a' })
  await service.system.records.pet.create({ owner: 1 })
  for (const [method, url, body, expected] of requests) {
    statements = []
    const headers = body && { 'content-type': 'application/json' }
    await service.fetch(new Request(`http://localhost${url}`, { method, headers, body: JSON.stringify(body) }))
    const reading = statements.filter((text) => text.includes('"long"'))
    assert.equal(reading.length, expected, `${method} ${url}:\n${statements.join('\n')}`)
  }
})
