import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createService, type Service } from '../../src/index.ts'

/* A hook may set values, so that only unknown names are known to be wrong before it runs, and it does not run for them. */

const ran: string[] = []
const attributes = { name: { type: 'string', required: true, unique: true }, age: { type: 'number' } }
const models = {
  plain: { attributes },
  hooked: { attributes, hooks: { before: { create: (): void => void ran.push('create') } } },
  // None of these hooks runs before a create.
  other: {
    attributes,
    hooks: { before: { update: (): void => void ran.push('update') }, within: { create: () => {} } },
  },
}

let service: Service
before(async () => {
  service = (await createService({ models, database: 'memory:' } as never)) as never
})
after(() => service.close())

const cases: readonly (readonly [method: string, path: string, body: unknown, refused: readonly string[]])[] = [
  ['POST', '/plain', { nme: 1, age: 'x' }, ['age', 'name', 'nme']],
  ['POST', '/plain', [{ name: 'a', age: 'x' }, { nme: 1 }], ['0.age', '1.name', '1.nme']],
  ['POST', '/other', { nme: 1, age: 'x' }, ['age', 'name', 'nme']],
  ['POST', '/other?upsert=name', { name: 'a', nme: 1, age: 'x' }, ['age', 'nme']],
  ['POST', '/hooked', { nme: 1, age: 'x' }, ['nme']],
  ['POST', '/hooked', [{ name: 'a' }, { age: 'x' }, { name: 'b', nme: 1 }], ['2.nme']],
  ['POST', '/hooked?upsert=name', { name: 'a', nme: 1, age: 'x' }, ['nme']],
  ['PATCH', '/other?where={"name":"none"}', { nme: 1, age: 'x' }, ['nme']],
  ['PATCH', '/hooked?where={"name":"none"}', { nme: 1, age: 'x' }, ['age', 'nme']],
]

for (const [method, path, body, refused] of cases) {
  test(`${method} ${path} ${JSON.stringify(body)}`, async () => {
    const headers = { 'Content-Type': 'application/json' }
    const request = new Request(`http://localhost${path}`, { method, headers, body: JSON.stringify(body) })
    const answer = await service.fetch(request)
    const { invalidAttributes } = (await answer.json()) as { invalidAttributes: object }
    assert.deepEqual([answer.status, Object.keys(invalidAttributes).sort()], [400, refused])
    assert.deepEqual(ran, [])
  })
}
