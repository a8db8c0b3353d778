import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createService } from '../../index.ts'

const requests: readonly (readonly [what: string, path: string, body: unknown])[] = [
  ['a request', '/pet', { name: 'a' }],
  ['a request with a callback', '/pet?callback=f', { name: 'a' }],
  ['a batch', '/batch', [{ method: 'POST', url: '/pet', body: { name: 'a' } }]],
]
for (const [what, path, body] of requests) {
  test(`${what} does not learn which record of another model a hook could not create`, async () => {
    const errors: unknown[] = []
    await using service = await createService({
      database: 'sqlite::memory:',
      onError: (error) => errors.push(error),
      models: {
        pet: {
          attributes: { name: { type: 'string' } },
          hooks: { within: { create: ({ tx }) => tx.audit.create({ code: 'x' }) } },
        },
        audit: { attributes: { code: { type: 'string', unique: true } } },
      },
    })
    await service.system.records.audit.create({ code: 'x' })
    const headers = { 'Content-Type': 'application/json' }
    const request = new Request(`http://localhost${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    const response = await service.fetch(request)
    assert.equal(response.status, 500)
    assert.doesNotMatch(await response.text(), /audit|unique/)
    assert.match(String(errors[0]), /"code" of audit must be unique/)
    assert.equal(await service.system.records.pet.count(), 0)
  })
}
