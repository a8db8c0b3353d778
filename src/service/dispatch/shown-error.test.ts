import assert from 'node:assert/strict'
import { test } from 'node:test'
import { action, createService } from '../../index.ts'

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

for (const path of ['/batch', '/batch?atomic=false']) {
  test(`a request of ${path} learns no more of a failure on behalf of the system than one that is alone`, async () => {
    /** Records on behalf of the system, which a hook was given. */
    let kept: { readonly audit: { create(values: object): Promise<unknown> } } | undefined
    const errors: unknown[] = []
    const validate = async (value: unknown) => {
      await kept?.audit.create({ code: 'x' })
      return { value }
    }
    await using service = await createService({
      database: 'sqlite::memory:',
      onError: (error) => errors.push(error),
      models: {
        pet: {
          attributes: { name: { type: 'string' } },
          hooks: {
            before: {
              create: (_values, { system }) => {
                kept = system.records as never
              },
            },
          },
        },
        audit: { attributes: { code: { type: 'string', unique: true } } },
      },
      actions: {
        check: action({
          on: 'service',
          input: { '~standard': { version: 1, vendor: 'test', validate } },
          run: () => ({}),
        }),
      },
    })
    await service.system.records.audit.create({ code: 'x' })
    await service.system.records.pet.create({ name: 'a' })
    const post = async (path: string, body: unknown) => {
      const headers = { 'Content-Type': 'application/json' }
      const request = new Request(`http://localhost${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      return (await service.fetch(request)).json() as Promise<unknown>
    }
    const alone = (await post('/check', {})) as { readonly code: string }
    const answers = (await post(path, [{ method: 'POST', url: '/check', body: {} }])) as { readonly body: unknown }[]
    assert.equal(alone.code, 'E_INTERNAL')
    assert.deepEqual(answers[0]?.body, alone)
    assert.match(String(errors[1]), /"code" of audit must be unique/)
  })
}
