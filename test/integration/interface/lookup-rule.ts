import assert from 'node:assert/strict'
import { type Body, type Clause, create, found, notFound, scriptArgument, uniqueName } from './api.ts'

/** Section 4, parameter lookup rule: path, query string and body with identical effect. */
export const lookupRule: readonly Clause[] = [
  {
    name: '4, lookup rule: the id of an update in the path, the query string or the body',
    async run(api) {
      const { id } = await create(api, 'user')
      const requests: readonly (readonly [string, Record<string, number>])[] = [
        [`/user/${id}`, { age: 1 }],
        [`/user?id=${id}`, { age: 2 }],
        ['/user', { id, age: 3 }],
      ]
      for (const [url, json] of requests) assert.equal(found(await api.ask('PUT', url, { json })).age, json.age)
    },
  },
  {
    name: '4, lookup rule: an attribute in the query string or the body',
    async run(api) {
      const { id } = await create(api, 'user')
      assert.equal(found(await api.ask('PUT', `/user/${id}?age=1`)).age, 1)
      assert.equal(found(await api.ask('PUT', `/user/${id}`, { json: { age: 2 } })).age, 2)
    },
  },
  {
    name: '4, lookup rule: a primary key with its own name',
    async run(api) {
      const { sku } = await create(api, 'toy')
      const url = `/toy/${encodeURIComponent(sku)}`
      const query = `sku=${encodeURIComponent(sku)}`
      assert.equal(found(await api.ask('PUT', url, { json: { title: 'x' } })).title, 'x')
      assert.equal(found(await api.ask('GET', `/toy?${query}`))[0].title, 'x')
      assert.equal(found(await api.ask('PUT', `/toy?${query}`, { json: { title: 'y' } })).title, 'y')
      assert.equal(found(await api.ask('PUT', '/toy', { json: { sku, title: 'z' } })).title, 'z')
      const pet = await create(api, 'pet', { toys: [sku] })
      assert.deepEqual(found(await api.ask('DELETE', `/pet/${pet.id}/toys`, { json: { sku } })).toys, [])
      assert.equal(found(await api.ask('DELETE', '/toy', { json: { sku } })).title, 'z')
    },
  },
  {
    name: '4, lookup rule: find parameters in the body of a GET',
    async run(api) {
      const name = uniqueName()
      const made = [await create(api, 'user', { name, age: 1 }), await create(api, 'user', { name, age: 2 })]
      const ask = async (json: Record<string, never> | object) =>
        found(await api.ask('GET', '/user', { json: json as never })).map(({ id }: { id: number }) => id)
      assert.deepEqual(await ask({ name, age: 2 }), [made[1].id])
      assert.deepEqual(await ask({ where: { name }, sort: 'age DESC' }), [made[1].id, made[0].id])
      assert.deepEqual(await ask({ where: JSON.stringify({ name }), limit: 1, skip: 1 }), [made[1].id])
    },
  },
  {
    name: '4, lookup rule: attributes in the body of an update shortcut',
    async run(api) {
      const { id } = await create(api, 'user')
      assert.equal(found(await api.ask('GET', `/user/update/${id}`, { json: { age: 4 } })).age, 4)
    },
  },
  {
    name: '4, lookup rule: parameters in a form or XML body of a GET',
    needsHttp: true,
    async run(api) {
      const { id } = await create(api, 'user', { age: 77 })
      const bodies: readonly Body[] = [
        { type: 'application/x-www-form-urlencoded', text: `id=${id}&age=77` },
        { type: 'application/xml', text: `<find><id>${id}</id><age>77</age></find>` },
      ]
      for (const body of bodies) assert.equal(found(await api.ask('GET', '/user', body))[0].id, id)
      assert.equal((await api.ask('GET', '/user', { type: 'application/json', text: '{' })).status, 400)
    },
  },
  {
    name: '4, lookup rule: callback in a body makes the answer JSONP and is not stored',
    needsHttp: true,
    async run(api) {
      const { id } = await create(api, 'user')
      const bodies: readonly Body[] = [
        { json: { age: 1, callback: 'show' } },
        { type: 'application/x-www-form-urlencoded', text: 'age=1&callback=show' },
        { type: 'application/xml', text: '<user><age>1</age><callback>show</callback></user>' },
      ]
      for (const body of bodies) {
        for (const method of ['PUT', 'PATCH', 'POST']) {
          const updated = scriptArgument(await api.ask(method, `/user/${id}`, body), 'show') as { age?: number }
          assert.equal(updated.age, 1)
        }
      }
      const named = { json: { name: uniqueName(), callback: 'show' } }
      const made = scriptArgument(await api.ask('POST', '/user', named), 'show') as { id?: number }
      const destroy = { json: { id: made.id as number, callback: 'show' } }
      const destroyed = scriptArgument(await api.ask('DELETE', '/user', destroy), 'show') as { id?: number }
      assert.equal(destroyed.id, made.id)
      const pet = await create(api, 'pet')
      const add = { json: { id: pet.id, callback: 'show' } }
      const parent = scriptArgument(await api.ask('POST', `/user/${id}/pets`, add), 'show') as { pets?: unknown[] }
      assert.equal(parent.pets?.length, 1)
      const missing = scriptArgument(await api.ask('PUT', '/user/999999', bodies[0]), 'show') as { code?: string }
      assert.equal(missing.code, 'E_NO_SUCH_RECORD')
      assert.equal((await api.ask('PUT', `/user/${id}`, { json: { callback: 'not a name(' } })).status, 400)
    },
  },
  {
    name: '4, lookup rule: callback in a body is a value where the model has an attribute of that name',
    async run(api) {
      const { id } = await create(api, 'hook')
      assert.equal(found(await api.ask('PUT', `/hook/${id}`, { json: { callback: 'show' } })).callback, 'show')
      assert.equal(found(await api.ask('POST', '/hook', { json: { callback: 'show' } }), 201).callback, 'show')
    },
  },
  {
    name: '4, lookup rule: over a socket callback changes nothing, because every answer is an acknowledgement',
    async run(api) {
      await using socket = await api.connect()
      const { id } = await create(api, 'user')
      const { statusCode, body } = await socket.ask('put', { url: `/user/${id}`, data: { age: 3, callback: 'show' } })
      assert.deepEqual([statusCode, body.age], [200, 3])
    },
  },
  {
    name: '4, lookup rule: a destroyed record is named by id in the body',
    async run(api) {
      const { id } = await create(api, 'pet')
      found(await api.ask('DELETE', '/pet', { json: { id: String(id) } }))
      notFound(await api.ask('DELETE', '/pet', { json: { id } }))
    },
  },
]
