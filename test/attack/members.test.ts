import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService, type HttpServer, type Service } from '../../src/index.ts'
import type { Json } from '../../src/protocol/json.ts'
import { RawSocket } from '../support/raw-socket.ts'

/* Members of associations that are too many, ambiguous or not there: refused in each way to set them, and nothing changes. */

const models = {
  owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: {
    attributes: {
      name: { type: 'string' },
      secret: { type: 'string', hidden: true },
      owner: { model: 'owner' },
      tags: { collection: 'tag', via: 'pets' },
    },
  },
  tag: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'tags' } } },
} as const

let service: Service<typeof models>
let server: HttpServer
const reported: unknown[] = []

before(async () => {
  service = await createService({ models, database: 'sqlite::memory:', onError: (error) => reported.push(error) })
  server = await service.listen(0)
  const { owner, pet, tag } = service.system.records
  const ann = await owner.create({ name: 'Ann' })
  await owner.create({ name: 'Ben' })
  const [rex] = await pet.createMany([{ name: 'Rex', owner: ann.id }, { name: 'Tom', owner: ann.id }, { name: 'Kit' }])
  await tag.create({ name: 'small', pets: [rex?.id as number] })
})
after(async () => {
  await service.close()
  assert.deepEqual(reported, [])
})

interface Answer {
  readonly status: number
  readonly limit?: string | undefined
}

async function send(method: string, path: string, body?: unknown): Promise<Answer & { readonly text: string }> {
  const response = await fetch(server.url + path, {
    method,
    headers: { 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, limit: (JSON.parse(text) as { limit?: string }).limit, text }
}

/** The ways to set the members of an association; `create` makes a parent with them. */
const places: Readonly<Record<string, (members: Json) => Promise<Answer>>> = {
  replace: (members) => send('PUT', '/owner/1/pets', members),
  'replace of a junction': (members) => send('PUT', '/tag/1/pets', members),
  'the shortcut of replace': (members) =>
    send('GET', `/owner/1/pets/replace?pets=${encodeURIComponent(JSON.stringify(members))}`),
  update: (members) => send('PATCH', '/owner/1', { pets: members }),
  'update of a junction': (members) => send('PATCH', '/tag/1', { pets: members }),
  create: (members) => send('POST', '/owner', { name: 'Evil', pets: members }),
  'a list of creates': (members) => send('POST', '/owner', [{ name: 'Evil' }, { name: 'Evil', pets: members }]),
  async 'a request of a batch'(members) {
    const { status, text } = await send('POST', '/batch', [
      { method: 'PATCH', url: '/owner/1', body: { pets: members } },
    ])
    return { status, limit: /"limit":"(\w+)"/.exec(text)?.[1] }
  },
  async 'a socket'(members) {
    await using socket = await RawSocket.connect(server.url)
    const { statusCode, body } = (await socket.ask('patch', { url: '/owner/1', data: { pets: members } })) as {
      statusCode: number
      body: { limit?: string }
    }
    return { status: statusCode, limit: body.limit }
  },
}

const several = (count: number, member: (index: number) => Json): Json =>
  Array.from({ length: count }, (_, i) => member(i))
const nested = (levels: number): Json =>
  levels === 0 ? 1 : { name: 'x', owner: { name: 'y', pets: [nested(levels - 1)] } }

const shapes: readonly (readonly [what: string, members: Json, limit?: string])[] = [
  ['1,001 keys', several(1_001, (index) => index + 1), 'maxAssociated'],
  ['1,001 times the same key', several(1_001, () => 1), 'maxAssociated'],
  ['1,001 new records', several(1_001, () => ({})), 'maxAssociated'],
  ['keys that no record has', several(500, (index) => 1_000 + index)],
  ['a new record within a new record, and so on', [nested(20)]],
  ['an operator in place of a key', [{ id: { '>': 0 } }]],
  ['an object in place of a list', { '0': 3, length: 1 }],
  ['a list in place of a key', [[3]]],
  ['a fraction', [1.5]],
  ['a key beyond what a number holds', [1e300]],
  ['SQL in place of a key', ['3); drop table pet; --']],
  ['the prototype of a new record', [JSON.parse('{"name":"Evil","__proto__":{"owner":2}}') as Json]],
  ['a name of prototypes', [{ name: 'Evil', constructor: 1 }]],
  ['a value of another type', [{ name: { toString: 'x' } }]],
]

for (const [place, ask] of Object.entries(places)) {
  describe(`${place} refuses`, () => {
    for (const [what, members, limit] of shapes) {
      test(what, async () => {
        const answer = await ask(members)
        const { status } = answer
        assert.ok(status >= 400 && status < 500, String(status))
        if (limit !== undefined) assert.equal(answer.limit, limit)
        const { owner, pet, tag } = service.system.records
        const owners = (await owner.find({ sort: 'id', populate: ['pets'] })).data
        assert.deepEqual(
          owners.map(({ name, pets }) => [name, pets.map(({ id }) => id)]),
          [
            ['Ann', [1, 2]],
            ['Ben', []],
          ],
        )
        assert.deepEqual(
          (await tag.findOne(1, { populate: ['pets'] }))?.pets.map(({ id }) => id),
          [1],
        )
        assert.equal(await pet.count(), 3)
      })
    }
  })
}

describe('an association that', () => {
  for (const [what, method, path, body, status] of [
    ['leads to one record has no members', 'PUT', '/pet/1/owner', [1], 404],
    ['is not there', 'PUT', '/owner/1/__proto__', [1], 404],
    ['is an attribute', 'PUT', '/owner/1/name/2', undefined, 404],
    ['belongs to no record', 'PUT', '/owner/99/pets/1', undefined, 404],
    ['belongs to a record that no key names', 'PUT', '/owner/%7B%22%3E%22:0%7D/pets/1', undefined, 404],
    ['gets a member that is not there', 'PUT', '/owner/2/pets/99', undefined, 404],
    ['gets an operator as a member', 'PUT', '/owner/2/pets/%7B%22%3E%22:0%7D', undefined, 404],
    ['loses a member that is not its own', 'DELETE', '/owner/2/pets/1', undefined, 200],
  ] as const) {
    test(`${what}: ${status}`, async () => {
      assert.equal((await send(method, path, body)).status, status)
      const { data } = await service.system.records.pet.find({ sort: 'id' })
      assert.deepEqual(
        data.map(({ owner }) => owner),
        [1, 1, null],
      )
    })
  }
})

test('members of 1,000 records at once are bounded by what is embedded', async () => {
  await using limited = await createService({ models, database: 'sqlite::memory:', limits: { maxPopulated: 50 } })
  const { owner } = limited.system.records
  for (let index = 0; index < 6; index++)
    await owner.create({ name: 'x', pets: Array.from({ length: 10 }, () => ({ name: 'y' })) } as never)
  // Pages of 1,000 are read for 5 records at once.
  for (const populate of ['pets', '{"pets":{"limit":1000}}']) {
    const response = await limited.fetch(new Request(`http://localhost/owner?limit=1000&populate=${populate}`))
    assert.equal(((await response.json()) as { limit?: string }).limit, 'maxPopulated')
    assert.equal(response.status, 400)
  }
})
