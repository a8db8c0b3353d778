import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService, type Service } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

const all = { read: true, create: true, update: true, add: true } as const
const models = {
  owner: {
    attributes: {
      name: { type: 'string' },
      pets: { collection: 'pet', via: 'owner' },
      teams: { collection: 'team', via: 'owners' },
    },
    access: { ...all, read: () => ({ name: { '!=': 'hidden' } }) },
  },
  team: {
    attributes: { owners: { collection: 'owner', via: 'teams' } },
    access: all,
  },
  pet: {
    attributes: { owner: { model: 'owner' }, name: { type: 'string' } },
    access: { ...all, read: () => ({ name: { '!=': 'hidden' } }) },
  },
  pair: { attributes: { first: { model: 'code' }, second: { model: 'code' } }, access: all },
  code: { attributes: { id: { type: 'string' } }, access: all },
  stray: {
    attributes: { owner: { model: 'owner' } },
    access: all,
    // As a hook that copies what the requester may not read.
    hooks: { before: { create: () => ({ owner: 999 }) } },
  },
} as const

type Write = readonly [name: string, method: string, path: string, body: (id: number) => unknown, message: RegExp]
/** Each with the id of a record that does not exist, and with that of one that the requester may not read. */
const writes: readonly Write[] = [
  ['a to-one', 'POST', '/pet', (owner) => ({ owner }), /^"owner" of pet names no existing owner with the id ID$/],
  ['an update', 'PATCH', '/pet/1', (owner) => ({ owner }), /^"owner" of pet names no existing owner with the id ID$/],
  ['a list', 'POST', '/pet', (owner) => [{ name: 'x' }, { owner }], / names no existing owner with the id ID$/],
  [
    'a batch',
    'POST',
    '/batch',
    (owner) => [{ method: 'POST', url: '/pet', body: { owner } }],
    / owner with the id ID$/,
  ],
  [
    'members with a foreign key',
    'PATCH',
    '/owner/1',
    (id) => ({ pets: [1, id] }),
    /^"pets" names no existing pet with the id ID$/,
  ],
  ['members', 'POST', '/team', (id) => ({ owners: [1, id] }), /^"owners" names no existing owner with the id ID$/],
  ['a member to add', 'POST', '/owner/1/pets', (id) => ({ id }), /^"pets" names no existing pet with the id ID$/],
  ['what a hook has set', 'POST', '/stray', () => ({}), /^"owner" of stray names no existing owner$/],
]

for (const { name, missing, open } of databases) {
  describe(`a reference to no record, on ${name}`, { skip: missing ?? false }, () => {
    let database: TestDatabase
    let service: Service<typeof models>
    before(async () => {
      database = await open()
      service = await createService({ database: database.url, models })
      const { owner, pet } = service.system.records
      await owner.createMany([{ name: 'Ann' }, { name: 'hidden' }])
      await pet.createMany([{ name: 'Rex' }, { name: 'hidden' }])
    })
    after(async () => {
      await service.close()
      await database[Symbol.asyncDispose]()
    })

    async function refusal(method: string, path: string, body: unknown) {
      const headers = { 'content-type': 'application/json' }
      const request = new Request(`http://localhost${path}`, { method, headers, body: JSON.stringify(body) })
      const response = await service.fetch(request)
      assert.equal(response.status, 400)
      const text = await response.text()
      const answer = JSON.parse(text)
      return { text, detail: (Array.isArray(answer) ? answer[0].body : answer).detail as string }
    }

    for (const [what, method, path, body, message] of writes)
      test(`${what}: the answer names the model and the id, as it does where the record is hidden`, async () => {
        const [absent, hidden] = await Promise.all([99, 2].map((id) => refusal(method, path, body(id))))
        assert.match(absent?.detail.replace('99', 'ID') ?? '', message)
        assert.equal(absent?.text.replaceAll('id 99', 'id 2'), hidden?.text)
      })

    test('a record that does not exist is reported before what it would refer to', async () => {
      const { pet } = service.system.records
      await assert.rejects(pet.update(99, { owner: 99 }), { code: 'E_NO_SUCH_RECORD' })
      assert.deepEqual(await pet.updateMany({ where: { name: 'nobody' } }, { owner: 99 }), [])
    })

    for (const [what, body, detail] of [
      [
        'several references are named, each with its own id',
        { first: 'x', second: 'y' },
        '"first" of pair names no existing code with the id "x"; "second" of pair names no existing code with the id "y"',
      ],
      [
        'a long id is cut',
        { first: 'x'.repeat(100) },
        `"first" of pair names no existing code with the id "${'x'.repeat(59)}`,
      ],
    ] as const)
      test(what, async () => assert.equal((await refusal('POST', '/pair', body)).detail, detail))
  })
}
