import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService, type HttpServer, type Service } from '../../src/index.ts'
import type { Json, JsonObject } from '../../src/protocol/json.ts'
import { RawSocket } from '../support/raw-socket.ts'

/* Conditions that cost too much, are ambiguous, or ask for what is hidden: refused in each place where a condition may stand. */

const models = {
  owner: {
    attributes: {
      name: { type: 'string' },
      secret: { type: 'string', hidden: true },
      pets: { collection: 'pet', via: 'owner' },
    },
  },
  pet: {
    attributes: { name: { type: 'string' }, secret: { type: 'string', hidden: true }, owner: { model: 'owner' } },
  },
} as const

interface Answer {
  readonly status: number
  readonly limit?: string | undefined
}

let service: Service<typeof models>
let server: HttpServer
const reported: unknown[] = []

before(async () => {
  service = await createService({
    models,
    database: 'sqlite::memory:',
    shapes: '/v1/shape',
    onError: (error) => reported.push(error),
  })
  server = await service.listen(0)
  const owner = await service.system.records.owner.create({ name: 'Ann', secret: 'abc' })
  await service.system.records.pet.createMany([
    { name: 'Rex', owner: owner.id, secret: 'abc' },
    { name: 'Tom', owner: owner.id },
  ])
})
after(async () => {
  await service.close()
  assert.deepEqual(reported, [])
})

async function send(method: string, path: string, body?: unknown, accept = '*/*'): Promise<Answer & { text: string }> {
  const abort = new AbortController()
  const response = await fetch(server.url + path, {
    method,
    signal: abort.signal,
    headers: { 'Content-Type': 'application/json', Accept: accept },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  const text = isStream ? '' : await response.text()
  abort.abort()
  const parsed = text === '' ? undefined : (JSON.parse(text) as { limit?: string; body?: { limit?: string } })
  return { status: response.status, limit: parsed?.limit, text }
}

const encoded = (value: Json): string => encodeURIComponent(JSON.stringify(value))

/** Where a request may have a condition. */
const places: Readonly<Record<string, (where: Json) => Promise<Answer>>> = {
  'a find': (where) => send('GET', `/pet?where=${encoded(where)}`),
  'the shortcut of a find': (where) => send('GET', `/pet/find?where=${encoded(where)}`),
  'a count': (where) => send('GET', `/pet?count=true&limit=1&where=${encoded(where)}`),
  'a populated association': (where) => send('GET', `/owner?populate=${encoded({ pets: { where } })}`),
  'the members of an association': (where) => send('GET', `/owner/1/pets?where=${encoded(where)}`),
  'a change of many records': (where) => send('PATCH', `/pet?where=${encoded(where)}`, { name: 'changed' }),
  'a destroy of many records': (where) => send('DELETE', `/pet?where=${encoded(where)}`),
  'an event stream': (where) => send('GET', `/pet?where=${encoded(where)}`, undefined, 'text/event-stream'),
  'a live query': (where) => send('POST', '/live', { queries: { q: { model: 'pet', where } } }),
  'a live query that embeds': (where) =>
    send('POST', '/live', { queries: { q: { model: 'owner', populate: { pets: { where } } } } }),
  'a shape': (where) => send('GET', `/v1/shape?table=pet&offset=-1&where=${encoded(where)}`),
  async 'a request of a batch'(where) {
    const { text, ...answer } = await send('POST', '/batch', [{ method: 'GET', url: `/pet?where=${encoded(where)}` }])
    const [only] = JSON.parse(text) as [{ body?: { limit?: string } }]
    return { ...answer, limit: only.body?.limit }
  },
  async 'a find over a socket'(where) {
    await using socket = await RawSocket.connect(server.url)
    const { statusCode, body } = (await socket.ask('get', { url: '/pet', data: { where } })) as {
      statusCode: number
      body: { limit?: string }
    }
    return { status: statusCode, limit: body.limit }
  },
}

const several = (count: number, condition: Json): Json => Array.from({ length: count }, () => condition)
const not = (levels: number): JsonObject => (levels === 0 ? { name: 'a' } : { not: not(levels - 1) })
const through = (levels: number): JsonObject =>
  levels === 0 ? { name: 'a' } : { [levels % 2 === 1 ? 'owner' : 'pets']: through(levels - 1) }
const proto = (value: string): Json => JSON.parse(`{"__proto__":${value}}`) as Json

const shapes: readonly (readonly [what: string, where: Json, limit?: string])[] = [
  ['320 empty conditions', { or: several(320, {}) }, 'maxConditionCost'],
  ['320 conditions in one and', { and: several(320, { name: 'a' }) }, 'maxConditionCost'],
  ['the same, divided among lists', { or: several(18, { and: several(18, { name: 'a' }) }) }, 'maxConditionCost'],
  ['160 combinations of one', { or: several(160, { or: [{ name: 'a' }] }) }, 'maxConditionCost'],
  ['160 empty conditions that are negated', { or: several(160, { not: {} }) }, 'maxConditionCost'],
  ['62 text searches', { or: several(62, { name: { contains: 'a' } }) }, 'maxConditionCost'],
  ['9 levels of not', not(9), 'maxDepth'],
  ['a list of 501 values', { id: Array.from({ length: 501 }, (_, id) => id) }, 'maxListItems'],
  ['501 values that it must not have', { id: { '!=': Array.from({ length: 501 }, (_, id) => id) } }, 'maxListItems'],
  ['a pattern of 1,001 characters', { name: { like: `${'%a'.repeat(500)}%` } }, 'maxPatternLength'],
  ['an object in place of a list', { or: { '0': { name: 'Rex' }, length: 1 } }],
  ['a text in place of a list', { or: 'name' }],
  ['a boolean', true],
  ['a list', [{ name: 'Rex' }]],
  ['a list in place of a condition', { not: [{ name: 'Rex' }] }],
  ['a name of prototypes', { constructor: 'a' }],
  ['the prototype', proto('{"name":"Rex"}')],
  ['the prototype as a modifier', { name: proto('"Rex"') }],
  ['a modifier of prototypes', { name: { toString: 'a' } }],
  ['a hidden attribute', { secret: { startsWith: 'a' } }],
  ['a hidden attribute in a combination', { or: [{ name: 'x' }, { not: { secret: 'abc' } }] }],
  ['a hidden attribute in another letter case', { Secret: 'abc' }],
  ['a name with a blank', { 'name ': 'Rex' }],
  ['a path', { 'owner.secret': 'abc' }],
  ['SQL as a name', { 'name" or 1=1 --': 'a' }],
]

/** Through associations: an event stream has none of them. */
const related: typeof shapes = [
  ['28 conditions through an association', { or: several(28, { owner: { name: 'a' } }) }, 'maxConditionCost'],
  ['empty ones', { or: several(28, { owner: { pets: {} } }) }, 'maxConditionCost'],
  ['9 associations, one through the other', through(9), 'maxDepth'],
  ['a hidden attribute of another model', { owner: { secret: { startsWith: 'a' } } }],
  ['one through two associations', { owner: { pets: { secret: 'abc' } } }],
]

for (const [place, ask] of Object.entries(places)) {
  describe(`${place} refuses`, () => {
    for (const [what, where, limit] of [...shapes, ...related]) {
      test(what, async () => {
        const answer = await ask(where)
        assert.equal(answer.status, 400)
        const isRelated = place === 'an event stream' && related.some(([name]) => name === what)
        if (limit !== undefined && !isRelated) assert.equal(answer.limit, limit)
        const stored = await service.system.records.pet.find({ sort: 'id' })
        assert.deepEqual(
          stored.data.map(({ name }) => name),
          ['Rex', 'Tom'],
        )
      })
    }
  })
}

describe('a condition is not left out where it is taken for something else:', () => {
  for (const query of [
    'WHERE={"name":"Rex"}',
    '_where={"name":"Rex"}',
    'lookup={"name":"Rex"}',
    'where[]={"name":"Rex"}',
    'where%20={"name":"Rex"}',
    'ｗhere={"name":"Rex"}',
    'where={"name":"Rex"}&where={"name":"Tom"}',
    'secret=abc',
    'where[secret]=abc',
    'where[or][0][secret]=abc',
  ]) {
    test(query, async () => {
      assert.equal((await send('GET', `/pet?${query}`)).status, 400)
      assert.equal((await send('DELETE', `/pet?${query}`)).status, 400)
    })
  }

  test('an empty list of values matches nothing', async () => {
    for (const where of [{ id: [] }, { id: { in: [] } }, { or: [] }] as readonly JsonObject[]) {
      const { status, text } = await send('GET', `/pet?where=${encoded(where)}`)
      assert.ok(status === 400 || text === '[]', `${JSON.stringify(where)}: ${status} ${text}`)
    }
  })
})
