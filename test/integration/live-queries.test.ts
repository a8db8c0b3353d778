import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import type { Json, JsonObject } from '../../src/protocol/json.ts'
import { databases } from '../support/databases.ts'
import { LiveTestClient } from '../support/live-client.ts'

/* Live queries over HTTP: rows, differences, operations, resuming, and what is refused. */

interface User {
  readonly id: string
}
const models = {
  owner: {
    attributes: {
      name: { type: 'string' },
      city: { type: 'string' },
      reader: { type: 'string' },
      pets: { collection: 'pet', via: 'owner' },
    },
  },
  pet: {
    attributes: {
      name: { type: 'string' },
      kind: { type: 'string' },
      age: { type: 'number' },
      owner: { model: 'owner' },
      tags: { collection: 'tag', via: 'pets' },
      notes: { collection: 'note', via: 'pet' },
    },
  },
  tag: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'tags' } } },
  note: {
    access: {
      read: ({ user }: { readonly user: User | null }) => ({ pet: { owner: { reader: user?.id ?? null } } }),
      create: true,
    },
    attributes: { text: { type: 'string' }, pet: { model: 'pet' } },
  },
  /** The rule of an attribute passes through another model, with a name that both have. */
  badge: {
    access: { read: true },
    attributes: {
      name: { type: 'string' },
      code: {
        type: 'string',
        access: {
          read: ({ user }: { readonly user: User | null }) => ({ owner: { reader: user?.id ?? null } }),
        },
      },
      owner: { model: 'owner' },
    },
  },
} as const

const auth = {
  identify: ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) =>
    headers.authorization === undefined ? null : { id: String(headers.authorization) },
}

async function serve(database: string) {
  const service = await createService({ database, models, auth, limits: { maxLiveQueries: 10 } })
  const { url } = await service.listen(0)
  const send = async (method: string, path: string, body?: object, user?: string) => {
    const response = await fetch(url + path, {
      method,
      ...(body && { body: JSON.stringify(body) }),
      headers: { 'Content-Type': 'application/json', ...(user && { Authorization: user }) },
    })
    const answer = (await response.json()) as JsonObject
    return { status: response.status, answer, token: response.headers.get('keelson-operation') ?? '' }
  }
  /** Writes, and waits until the stream has passed it. */
  const write = async (client: LiveTestClient, method: string, path: string, body?: object) => {
    const { token, answer } = await send(method, path, body)
    await client.until(() => client.operations.has(token))
    return answer
  }
  return { service, url, send, write, [Symbol.asyncDispose]: () => service.close() }
}

const names = (client: LiveTestClient, query: string) => client.rows(query)?.map(({ name }) => name)

for (const { name: database, missing, open } of databases) {
  describe(`live queries on ${database}`, { skip: missing ?? false }, () => {
    test('rows first, and then every difference, for all kinds of queries', async () => {
      await using opened = await open()
      await using served = await serve(opened.url)
      const { service, url, write } = served
      for (const name of ['Ann', 'Bob']) await service.system.records.owner.create({ name, city: 'Oslo' })
      for (let age = 0; age < 5; age++)
        await service.system.records.pet.create({ name: `p${age}`, kind: age % 2 ? 'cat' : 'dog', age, owner: 1 })
      const queries = {
        dogs: { model: 'pet', where: { kind: 'dog' } },
        oldest: { model: 'pet', sort: 'age DESC', limit: 2, select: ['name', 'age'] },
        second: { model: 'pet', sort: 'age DESC', limit: 2, skip: 2 },
        counted: { model: 'pet', where: { age: { '>': 0 } }, count: true, limit: 1 },
        inOslo: { model: 'pet', where: { owner: { city: 'Oslo' } }, sort: 'owner.name, id' },
        owners: { model: 'owner', populate: { pets: { sort: 'age DESC', limit: 2, populate: ['tags'] } } },
        tagged: { model: 'pet', where: { tags: { name: 'x' } } },
      }
      await using client = await LiveTestClient.open(url, queries)
      await client.until(() => client.held.size === Object.keys(queries).length)
      const check = async (what: string) => {
        const headers = { 'Content-Type': 'application/json' }
        await using again = await LiveTestClient.open(url, queries, headers)
        await again.until(() => again.held.size === Object.keys(queries).length)
        for (const name of Object.keys(queries)) {
          const [mine, fresh] = [client.held.get(name), again.held.get(name)]
          assert.deepEqual(mine?.rows, fresh?.rows, `${name} after ${what}`)
          assert.equal(mine?.total, fresh?.total, `the total of ${name} after ${what}`)
        }
      }
      await check('opening')
      const steps: readonly (readonly [string, string, object?])[] = [
        ['POST', '/pet', { name: 'new', kind: 'dog', age: 10, owner: 2 }],
        ['PATCH', '/pet/6', { age: 2.5 }],
        ['PATCH', '/pet/1', { kind: 'cat' }],
        ['PATCH', '/owner/1', { city: 'Rome' }],
        ['POST', '/pet/2/tags', { name: 'x' }],
        ['PATCH', '/tag/1', { name: 'y' }],
        ['PATCH', '/tag/1', { name: 'x' }],
        ['DELETE', '/pet/2/tags/1'],
        ['PATCH', '/pet/4', { owner: null }],
        ['DELETE', '/pet/5'],
        ['PATCH', '/owner/2', { name: 'Zoe' }],
        ['DELETE', '/owner/1'],
      ]
      for (const [method, path, body] of steps) {
        await write(client, method, path, body)
        await check(`${method} ${path}`)
      }
    })

    test('an operation that no query sees is reported, to its own requester only', async () => {
      await using opened = await open()
      await using served = await serve(opened.url)
      const { url, send } = served
      const query = { pets: { model: 'pet' } }
      const [ann, anonymous] = [
        await LiveTestClient.open(url, query, { Authorization: 'ann' }),
        await LiveTestClient.open(url, query),
      ]
      const byAnn = await send('POST', '/owner', { name: 'x' }, 'ann')
      const byBob = await send('POST', '/owner', { name: 'y' }, 'bob')
      const byNone = await send('POST', '/owner', { name: 'z' })
      await anonymous.until(() => anonymous.operations.has(byNone.token))
      const last = await send('POST', '/pet', { name: 'p' }, 'ann')
      await ann.until(() => ann.operations.has(last.token) && ann.rows('pets')?.length === 1)
      assert.deepEqual([...ann.operations], [byAnn.token, last.token])
      assert.deepEqual([...anonymous.operations], [byNone.token])
      assert.ok(!ann.frames.some(({ data }) => JSON.stringify(data).includes(byBob.token)))
      assert.deepEqual(
        ann.frames.map(({ event }) => event),
        ['open', 'rows', 'seen', 'diff'],
      )
      await Promise.all([ann.close(), anonymous.close()])
    })

    test('a rule through associations: what becomes readable enters, what ceases to be leaves', async () => {
      await using opened = await open()
      await using served = await serve(opened.url)
      const { service, url, send } = served
      const { owner, pet, note } = service.system.records
      await owner.create({ name: 'Ann', reader: 'eve' })
      await pet.create({ name: 'Rex', owner: 1 })
      await note.create({ text: 'secret', pet: 1 })
      const query = { notes: { model: 'note' } }
      const [eve, mallory] = [
        await LiveTestClient.open(url, query, { Authorization: 'eve' }),
        await LiveTestClient.open(url, query, { Authorization: 'mallory' }),
      ]
      await eve.until(() => eve.rows('notes')?.length === 1)
      await mallory.until(() => mallory.rows('notes')?.length === 0)
      await send('PATCH', '/owner/1', { reader: 'mallory' })
      await eve.until(() => eve.rows('notes')?.length === 0)
      await mallory.until(() => mallory.rows('notes')?.length === 1)
      assert.ok(!JSON.stringify(eve.frames.at(-1)).includes('secret'))
      await Promise.all([eve.close(), mallory.close()])
    })

    test('records of a model that the rule of an attribute passes through are not taken for records of the query', async () => {
      await using opened = await open()
      await using served = await serve(opened.url)
      const { service, url, write } = served
      const { owner, badge } = service.system.records
      for (const name of ['Ann', 'Bob']) await owner.create({ name, reader: 'eve' })
      await badge.create({ name: 'gold', code: 'c', owner: 1 })
      await using client = await LiveTestClient.open(url, {
        unruled: { model: 'badge', select: ['name'] },
        ruled: { model: 'badge', select: ['name', 'code'] },
      })
      await client.until(() => client.held.size === 2)
      await write(client, 'PATCH', '/owner/2', { name: 'Cid' })
      assert.deepEqual(client.rows('unruled'), [{ id: 1, name: 'gold' }])
      assert.deepEqual(client.rows('ruled'), [{ id: 1, name: 'gold', code: null }])
    })

    test('users whose rules differ for a model that only the condition of embedded records passes through have their own rows', async () => {
      await using opened = await open()
      await using served = await serve(opened.url)
      const { service, url } = served
      const { owner, pet, note, tag } = service.system.records
      await owner.create({ name: 'Ann', reader: 'eve' })
      await pet.create({ name: 'Rex', owner: 1 })
      await note.create({ text: 'secret', pet: 1 })
      await tag.create({ name: 'x', pets: [1] })
      const pets = { where: { notes: { text: { startsWith: 'sec' } } } }
      const queries = { tags: { model: 'tag', populate: { pets } } }
      const [eve, mallory] = [
        await LiveTestClient.open(url, queries, { Authorization: 'eve' }),
        await LiveTestClient.open(url, queries, { Authorization: 'mallory' }),
      ]
      for (const client of [eve, mallory]) await client.until(() => client.held.size === 1)
      const embedded = (client: LiveTestClient) =>
        client.rows('tags')?.map(({ pets }) => (pets as readonly Json[]).length)
      assert.deepEqual([embedded(eve), embedded(mallory)], [[1], [0]])
      await Promise.all([eve.close(), mallory.close()])
    })

    test('a client that resumes receives what it missed', async () => {
      await using opened = await open()
      await using served = await serve(opened.url)
      const { url, send } = served
      for (let age = 0; age < 4; age++) await send('POST', '/pet', { name: `p${age}`, age, kind: 'dog' })
      const queries = { all: { model: 'pet', sort: 'age' }, withOwner: { model: 'pet', populate: ['owner'], limit: 3 } }
      await using client = await LiveTestClient.open(url, queries)
      await client.until(() => client.held.size === 2)
      await client.close()
      const resume = async (): Promise<LiveTestClient> => {
        const held = Object.entries(queries).map(([name, query]) => {
          const { rows, position } = client.held.get(name) ?? assert.fail()
          return [name, { ...query, after: position, ids: rows.map(({ id }) => id) }]
        })
        const again = await LiveTestClient.open(url, Object.fromEntries(held), {}, client.held)
        for (const _ of held) await again.next()
        await again.next()
        return again
      }
      await using unchanged = await resume()
      assert.deepEqual(
        unchanged.frames.map(({ event }) => event),
        ['open', 'current', 'current'],
      )
      await unchanged.close()
      await send('PATCH', '/pet/1', { age: 9 })
      await send('DELETE', '/pet/2')
      await send('PATCH', '/pet/3', { name: 'changed' })
      await send('POST', '/pet', { name: 'new', age: 1 })
      await using resumed = await resume()
      assert.deepEqual(
        resumed.frames.map(({ event }) => event),
        ['open', 'diff', 'diff'],
      )
      assert.deepEqual(names(resumed, 'all'), ['new', 'changed', 'p3', 'p0'])
      assert.deepEqual(names(resumed, 'withOwner'), ['p0', 'changed', 'p3'])
      await resumed.close()
      await using foreign = await LiveTestClient.open(url, { all: { model: 'pet', after: 'elsewhere', ids: [1, 77] } })
      const events = [await foreign.next(), await foreign.next(), await foreign.next()].map(({ event }) => event)
      assert.deepEqual(events, ['open', 'reset', 'rows'])
    })
  })
}

describe('a stream', () => {
  test('is changed by its own requester only', async () => {
    await using served = await serve('sqlite::memory:')
    const { url, send } = served
    await using client = await LiveTestClient.open(url, { a: { model: 'pet' } }, { Authorization: 'ann' })
    const { stream } = client
    for (const user of ['bob', undefined]) {
      const { status, answer } = await send('POST', '/live', { stream, add: { b: { model: 'pet' } } }, user)
      assert.deepEqual([status, answer.code], [404, 'E_NO_SUCH_STREAM'])
    }
    const change = (body: object) => send('POST', '/live', { stream, ...body }, 'ann')
    assert.deepEqual((await change({ add: { b: { model: 'owner' } } })).answer, {})
    await client.until(() => client.held.size === 2)
    assert.equal((await change({ add: { b: { model: 'pet' } } })).status, 400)
    assert.equal(
      (await change({ remove: ['a', 'nothing'], add: { b2: { model: 'pet' }, a: { model: 'tag' } } })).status,
      200,
    )
    await client.until(() => client.held.size === 3 && client.rows('a')?.length === 0)
  })

  const refused: readonly (readonly [what: string, body: Json, status: number, text: RegExp])[] = [
    ['no object', [], 400, /object/],
    ['neither queries nor a stream', {}, 400, /either/],
    ['both', { queries: {}, stream: 'x' }, 400, /either/],
    ['an unknown member', { queries: {}, other: 1 }, 400, /"other"/],
    ['queries that are a list', { queries: [] }, 400, /name for each/],
    ['a query that is a text', { queries: { a: 'pet' } }, 400, /Query "a"/],
    ['an unknown model', { queries: { a: { model: 'cow' } } }, 400, /Query "a": .*"cow"/],
    ['a junction', { queries: { a: { model: 'pet_tags__tag_pets' } } }, 400, /no model/],
    ['a name of a prototype as a model', { queries: { a: { model: '__proto__' } } }, 400, /no model/],
    ['an unknown option', { queries: { a: { model: 'pet', cursor: 'x' } } }, 400, /no option "cursor"/],
    [
      'an unknown attribute',
      { queries: { b: { model: 'pet' }, a: { model: 'pet', where: { x: 1 } } } },
      400,
      /Query "a": .*"x"/,
    ],
    ['a long name', { queries: { ['n'.repeat(65)]: { model: 'pet' } } }, 400, /64 characters/],
    ['ids without a position', { queries: { a: { model: 'pet', ids: [1] } } }, 400, /"after" is a position/],
    ['ids that are none', { queries: { a: { model: 'pet', after: 'x', ids: [{}] } } }, 400, /id of pet/],
    ['a key twice', { queries: { a: { model: 'pet', after: 'x', ids: [1, 1] } } }, 400, /twice/],
    [
      'too many queries',
      { queries: Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`q${n}`, { model: 'pet' }])) },
      400,
      /at most 10/,
    ],
    ['a stream that does not exist', { stream: 'x', add: {} }, 404, /no such stream/],
    ['a stream that is no text', { stream: {}, add: {} }, 404, /no such stream/],
    ['names to remove that are none', { stream: 'x', remove: 'a' }, 404, /no such stream/],
  ]
  test('refuses what it cannot do, with an error that names the query', async () => {
    await using served = await serve('sqlite::memory:')
    const { url, send } = served
    for (const [what, body, status, text] of refused) {
      const { status: given, answer } = await send('POST', '/live', body as object)
      assert.equal(given, status, `${what}: ${JSON.stringify(answer)}`)
      assert.match(String(answer.detail), text, what)
    }
    const get = await fetch(`${url}/live`)
    assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST, OPTIONS'])
    assert.equal((await fetch(`${url}/Live/`, { method: 'OPTIONS' })).headers.get('allow'), 'POST, OPTIONS')
  })

  test('may name its queries like members of objects', async () => {
    await using served = await serve('sqlite::memory:')
    const { url, write } = served
    const queries = JSON.parse('{"__proto__":{"model":"pet"},"constructor":{"model":"pet"},"toString":{"model":"pet"}}')
    await using client = await LiveTestClient.open(url, queries)
    await client.until(() => client.held.size === 3)
    await write(client, 'POST', '/pet', { name: 'Rex' })
    for (const name of Object.keys(queries)) assert.deepEqual(names(client, name), ['Rex'])
  })

  test('ends with `restart` when the service stops', async () => {
    await using served = await serve('sqlite::memory:')
    const { service, url } = served
    const client = await LiveTestClient.open(url, { a: { model: 'pet' } })
    await client.until(() => client.held.size === 1)
    await service.close()
    await client.ended
    assert.equal(client.frames.at(-1)?.event, 'restart')
  })
})

test('`live` is not the name of a model', async () => {
  await assert.rejects(createService({ database: 'sqlite::memory:', models: { live: { attributes: {} } } }), /reserved/)
})
