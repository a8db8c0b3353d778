import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { action, createService, type HttpServer } from '../../../src/index.ts'

/* A result that JSON has no form for is an error, and what the action wrote is rolled back. */

const results: Readonly<Record<string, () => unknown>> = {
  'a Map': () => new Map([['name', 'Rex']]),
  'a Response': () => new Response('Rex'),
  'a Blob': () => new Blob(['Rex']),
  'an Error': () => new Error('Rex'),
  bytes: () => Buffer.from('Rex'),
  'a buffer': () => new ArrayBuffer(3),
  'a function': () => () => 1,
  'a Date': () => new Date(0),
  'a URL': () => new URL('http://localhost/rex'),
  null: () => null,
  'an instance of a class': () =>
    new (class {
      name = 'Rex'
    })(),
  'a list': () => [1, 'Rex'],
}
const answered: Readonly<Record<string, unknown>> = {
  'a Date': '1970-01-01T00:00:00.000Z',
  'a URL': 'http://localhost/rex',
  null: null,
  'an instance of a class': { name: 'Rex' },
  'a list': [1, 'Rex'],
}

describe('results of actions', async () => {
  const reported: string[] = []
  const make = action({
    on: 'model',
    input: { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } },
    async run({ input, tx }) {
      await tx.pet.create({ name: 'Rex' })
      return results[(input as { readonly name: string }).name]?.()
    },
  })
  const service = await createService({
    database: 'sqlite::memory:',
    onError: (error) => reported.push(String(error)),
    models: { pet: { attributes: { name: { type: 'string' } }, actions: { make } } },
  })
  let server: HttpServer
  before(async () => {
    server = await service.listen(0)
  })
  after(() => service.close())

  for (const name of Object.keys(results)) {
    test(`${name} is ${name in answered ? 'JSON' : 'refused'}`, async () => {
      const before = await service.system.records.pet.count()
      reported.length = 0
      const response = await fetch(`${server.url}/pet/make`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ name }),
      })
      const count = (await service.system.records.pet.count()) - before
      if (name in answered) {
        assert.deepEqual([response.status, await response.json(), count], [200, answered[name], 1])
        return
      }
      assert.deepEqual([response.status, count], [500, 0])
      assert.match(
        reported.join(),
        /The result of the action "make" is not JSON but \[object \w+\]; `file` sends bytes/,
      )
    })
  }
})
