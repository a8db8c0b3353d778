import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService, type ModelDefinitions } from '../../src/index.ts'
import type { Json, JsonObject } from '../../src/protocol/json.ts'
import { databaseNamed, databases } from '../support/databases.ts'

/* Names of models and attributes that mean something else in a condition or in a statement. */

const withoutTimes = { createdAt: false, updatedAt: false } as const
const name = { type: 'string' } as const

async function serve(database: string, models: ModelDefinitions) {
  const service = await createService({ database, models, attributes: withoutTimes })
  const ask = async (method: string, path: string, body?: Json): Promise<Json> => {
    const init = { method, headers: { 'content-type': 'application/json' } }
    const sent = body === undefined ? init : { ...init, body: JSON.stringify(body) }
    const response = await service.fetch(new Request(`http://localhost${path}`, sent))
    const answer = (await response.json()) as Json
    assert.ok(response.status < 300, JSON.stringify(answer))
    return answer
  }
  const find = async (path: string) => ((await ask('GET', path)) as readonly JsonObject[]).map((record) => record.name)
  return { ask, find, [Symbol.asyncDispose]: () => service.close() }
}

for (const { name: database, missing, open } of databases) {
  describe(`names on ${database}`, { skip: missing ?? false }, () => {
    for (const operator of ['contains', 'startsWith', 'endsWith', 'like'])
      test(`a condition on an association that is named "${operator}" concerns its members`, async () => {
        await using opened = await open()
        await using served = await serve(opened.url, {
          box: { attributes: { name, [operator]: { collection: 'item', via: 'box' } } },
          item: { attributes: { name, box: { model: 'box' } } },
        })
        const { ask, find } = served
        await ask('POST', '/box', { name: 'first', [operator]: [{ name: 'Rex' }] })
        await ask('POST', '/box', { name: 'Rex' })
        assert.deepEqual(await find(`/box?where={"${operator}":{"name":"Rex"}}`), ['first'])
      })

    for (const model of ['r', 'order'])
      test(`records of "${model}" are sorted by an attribute of what they refer to`, async () => {
        await using opened = await open()
        await using served = await serve(opened.url, {
          [model]: { attributes: { name, owner: { model: 'person' } } },
          // A column of the same name as the foreign key.
          person: { attributes: { name, owner: { type: 'number' } } },
        })
        const { ask, find } = served
        for (const [name, owner] of [
          ['Zoe', 1],
          ['Ann', 2],
        ] as const)
          await ask('POST', '/person', { name, owner })
        for (const [name, owner] of [
          ['x', 1],
          ['y', 2],
        ] as const)
          await ask('POST', `/${model}`, { name, owner })
        assert.deepEqual(await find(`/${model}?sort=owner.name`), ['y', 'x'])
        assert.deepEqual(await find(`/${model}?sort=owner.name%20DESC`), ['x', 'y'])
      })

    test('members through a model of which a row refers to nothing fill a page', async () => {
      await using opened = await open()
      await using served = await serve(opened.url, {
        user: { attributes: { name, groups: { collection: 'group', via: 'user', through: 'membership' } } },
        group: { attributes: { name, users: { collection: 'user', via: 'grp', through: 'membership' } } },
        membership: { attributes: { user: { model: 'user' }, grp: { model: 'group' } } },
      })
      const { ask } = served
      await ask('POST', '/user', { name: 'Ann' })
      for (const [index, name] of ['a', 'b', 'c', 'd'].entries()) {
        await ask('POST', '/group', { name })
        await ask('POST', '/membership', { user: 1, grp: index + 1 })
      }
      await ask('DELETE', '/group/1')
      const groups = async (criteria: object) => {
        const populate = encodeURIComponent(JSON.stringify({ groups: criteria }))
        const { groups } = (await ask('GET', `/user/1?populate=${populate}`)) as { groups: readonly JsonObject[] }
        return groups.map(({ name }) => name).join('')
      }
      assert.deepEqual(
        [
          await groups({ limit: 2 }),
          await groups({ limit: 2, skip: 1 }),
          await groups({ limit: 2, sort: 'id DESC' }),
          await groups({ limit: 2, sort: 'id DESC', skip: 1 }),
        ],
        ['bc', 'cd', 'dc', 'cb'],
      )
    })
  })
}

for (const { name: database, missing, open } of databases)
  test(`a value that is refused beside an attribute "toString" gets 400 on ${database}`, {
    skip: missing ?? false,
  }, async () => {
    await using opened = await open()
    await using service = await createService({
      database: opened.url,
      attributes: withoutTimes,
      models: {
        cage: { access: { read: true }, attributes: { pets: { collection: 'pet', via: 'cage' } } },
        pet: {
          access: { read: true, create: true },
          attributes: { name: { ...name, unique: true }, toString: name, cage: { model: 'cage' } },
        },
      },
    })
    const { pet } = service.system.records
    await pet.create({ name: 'Rex' } as never)
    const body = JSON.stringify({ name: 'Rex' })
    const headers = { 'content-type': 'application/json' }
    const response = await service.fetch(new Request('http://localhost/pet', { method: 'POST', headers, body }))
    assert.equal(response.status, 400)
    assert.deepEqual(((await response.json()) as JsonObject).attrNames, ['name'])
  })

const { missing, open } = databaseNamed('postgres')

test('PostgreSQL refuses names that it would cut, and says what to write', { skip: missing ?? false }, async () => {
  await using opened = await open()
  const long = 'a'.repeat(64)
  const problems = async (models: ModelDefinitions): Promise<readonly string[]> => {
    const error = await createService({ database: opened.url, models }).then(
      () => assert.fail('it has started'),
      (error: { readonly problems: readonly string[] }) => error,
    )
    return error.problems
  }
  const tooLong = 'longer than the 63 bytes of a name in PostgreSQL'
  assert.deepEqual(await problems({ pet: { attributes: { [long]: name }, tableName: `${long}t` } }), [
    `pet: the table "${long}t" is ${tooLong}; write a shorter tableName`,
    `pet.${long}: the column "${long}" is ${tooLong}; write a shorter columnName`,
  ])
  const [problem, ...others] = await problems({
    organizationmembership: { attributes: { assignedPermissions: { collection: 'permission', via: 'memberships' } } },
    permission: { attributes: { memberships: { collection: 'organizationmembership', via: 'assignedPermissions' } } },
  })
  assert.deepEqual(others, [])
  assert.match(problem ?? '', /^the many-to-many association .* write through: \{ tableName, from, to \}/)
})
