import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createService } from '../../src/index.ts'

/* The new records in a body are written under the rules of their own models. */

const open = () =>
  createService({
    database: 'sqlite::memory:',
    auth: { identify: ({ headers }) => (headers['x-user'] === undefined ? null : { id: Number(headers['x-user']) }) },
    attributes: { createdAt: false, updatedAt: false },
    models: {
      owner: {
        access: { read: true, create: true, update: true, add: true, remove: true },
        attributes: {
          name: { type: 'string' },
          rank: { type: 'number', readOnly: true },
          secret: {
            type: 'string',
            required: true,
            allowNull: true,
            access: { read: false, write: ({ user }) => user !== null },
          },
          pets: { collection: 'pet', via: 'owner' },
        },
      },
      pet: {
        access: { read: true, create: ({ user }) => user !== null && { keeper: user.id }, update: true },
        attributes: { name: { type: 'string' }, keeper: { type: 'number' }, owner: { model: 'owner' } },
      },
    },
  })

const cases: readonly (readonly [title: string, user: number | null, path: string, body: object, status: number])[] = [
  ['a member that the rule allows', 1, '/owner', { secret: null, pets: [{ name: 'Rex', keeper: 1 }] }, 201],
  ['a member that the rule refuses', 1, '/owner', { secret: null, pets: [{ name: 'Rex', keeper: 2 }] }, 403],
  ['one of several members refused', 1, '/owner', { secret: null, pets: [{ keeper: 1 }, { keeper: 2 }] }, 403],
  ['a new record that it refers to', 1, '/pet', { keeper: 1, owner: { name: 'Ann', secret: 'x' } }, 201],
  ['a read-only attribute of a new record', 1, '/pet', { keeper: 1, owner: { secret: 'x', rank: 1 } }, 403],
  ['no rule for an anonymous requester', null, '/owner', { pets: [{ name: 'Rex' }] }, 403],
]

for (const [title, user, path, body, status] of cases) {
  test(`nested writes under access rules: ${title}`, async () => {
    await using service = await open()
    const headers = { 'Content-Type': 'application/json', ...(user !== null && { 'x-user': String(user) }) }
    const request = new Request(`http://localhost${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    const response = await service.fetch(request)
    const text = await response.text()
    assert.equal(response.status, status, text)
    assert.ok(!text.includes('"secret"'), text)
    const { owner, pet } = service.system.records
    const stored = (await owner.count()) + (await pet.count())
    assert.equal(stored, status === 201 ? 2 : 0)
  })
}
