import assert from 'node:assert/strict'
import { type Clause, create, found, notFound, scriptArgument, uniqueName } from './api.ts'

const ids = (records: readonly { readonly id: number }[]) => records.map(({ id }) => id)

/** Section 4: the table of endpoints and the parameters of each operation. */
export const endpoints: readonly Clause[] = [
  {
    name: '4, find: GET /:model answers an array of records, filtered by equality with an attribute',
    async run(api) {
      const name = uniqueName()
      const made = [await create(api, 'user', { name, age: 1 }), await create(api, 'user', { name, age: 2 })]
      const query = `name=${encodeURIComponent(name)}`
      assert.deepEqual(ids(found(await api.ask('GET', `/user?${query}`))), ids(made))
      assert.deepEqual(ids(found(await api.ask('GET', `/user?${query}&age=2`))), [made[1].id])
    },
  },
  {
    name: '4, find: where is JSON with modifiers and is used instead of filters by attribute',
    async run(api) {
      const name = uniqueName()
      const { id } = await create(api, 'user', { name: `${name} end` })
      for (const modifier of [{ startsWith: name }, { contains: name }]) {
        const where = encodeURIComponent(JSON.stringify({ name: modifier }))
        assert.deepEqual(ids(found(await api.ask('GET', `/user?where=${where}&name=other`))), [id])
      }
    },
  },
  {
    name: '4, find: limit, skip and sort; the default order is by primary key',
    async run(api) {
      const name = uniqueName()
      const made = []
      for (const age of [2, 3, 1]) made.push((await create(api, 'user', { name, age })).id)
      const list = async (query: string) =>
        ids(found(await api.ask('GET', `/user?name=${encodeURIComponent(name)}${query}`)))
      assert.deepEqual(await list(''), made)
      assert.deepEqual(await list('&sort=age%20ASC'), [made[2], made[0], made[1]])
      assert.deepEqual(await list('&sort=age%20DESC'), [made[1], made[0], made[2]])
      assert.deepEqual(await list('&limit=1&skip=1'), [made[1]])
    },
  },
  {
    name: '4, find: callback makes the answer JSONP',
    needsHttp: true,
    async run(api) {
      const { id } = await create(api, 'pet')
      const [record] = scriptArgument(await api.ask('GET', `/pet?id=${id}&callback=show`), 'show') as { id: number }[]
      assert.equal(record?.id, id)
    },
  },
  {
    name: '4, update: PUT /:model/:record changes the given attributes and answers the record',
    async run(api) {
      const made = await create(api, 'user', { age: 1 })
      const updated = found(await api.ask('PUT', `/user/${made.id}`, { json: { age: 2 } }))
      assert.deepEqual([updated.id, updated.name, updated.age], [made.id, made.name, 2])
    },
  },
  {
    name: '4, update shortcut: GET /:model/update/:record with the attributes in the query string',
    async run(api) {
      const { id } = await create(api, 'user')
      const updated = found(await api.ask('GET', `/user/update/${id}?name=by%20shortcut&age=9`))
      assert.deepEqual([updated.name, updated.age], ['by shortcut', 9])
    },
  },
  {
    name: '4, update shortcut: the id may be sent in the query string',
    async run(api) {
      const { id } = await create(api, 'user', { age: 1 })
      const updated = found(await api.ask('GET', `/user/update?id=${id}&age=2`))
      assert.deepEqual([updated.id, updated.age], [id, 2])
    },
  },
  {
    name: '4, update: a json attribute takes an object or an array from the query string',
    async run(api) {
      const { id } = await create(api, 'user')
      for (const value of [{ z: 1 }, [3], [], 7, true, null, 'text']) {
        const query = `extra=${encodeURIComponent(JSON.stringify(value))}`
        assert.deepEqual(found(await api.ask('GET', `/user/update/${id}?${query}`)).extra, value)
        assert.deepEqual(found(await api.ask('PUT', `/user/${id}?${query}`)).extra, value)
      }
    },
  },
  {
    name: '4, update: text that is not JSON is a string in a json attribute',
    async run(api) {
      const { id } = await create(api, 'user')
      for (const text of ['plain', '{not json', "['a']", '01']) {
        const query = `extra=${encodeURIComponent(text)}`
        assert.equal(found(await api.ask('GET', `/user/update/${id}?${query}`)).extra, text)
      }
      const json = { extra: '{"z":1}' }
      assert.equal(
        found(await api.ask('PUT', `/user/${id}`, { json })).extra,
        '{"z":1}',
        'a JSON body says what it means',
      )
    },
  },
  {
    name: '4, update: a json attribute takes an object or an array from a form, multipart and XML',
    needsHttp: true,
    async run(api) {
      const { id } = await create(api, 'user')
      const bodies = [
        { type: 'application/x-www-form-urlencoded', text: 'extra=%7B%22z%22%3A%5B1%5D%7D' },
        { type: 'application/xml', text: '<user><extra>{"z":[1]}</extra></user>' },
        {
          type: 'multipart/form-data; boundary=b',
          text: '--b\r\nContent-Disposition: form-data; name="extra"\r\n\r\n{"z":[1]}\r\n--b--\r\n',
        },
      ]
      for (const body of bodies) {
        found(await api.ask('PUT', `/user/${id}`, { json: { extra: null } }))
        assert.deepEqual(found(await api.ask('PUT', `/user/${id}`, body)).extra, { z: [1] }, body.type)
      }
    },
  },
  {
    name: '4, add: POST /:model/:record/:association with the id in the body answers the parent',
    async run(api) {
      const user = await create(api, 'user')
      const pet = await create(api, 'pet')
      for (const id of [pet.id, String(pet.id)]) {
        const parent = found(await api.ask('POST', `/user/${user.id}/pets`, { json: { id } }))
        assert.equal(parent.id, user.id)
        assert.deepEqual(ids(parent.pets), [pet.id])
      }
    },
  },
  {
    name: '4, add shortcut: GET /:model/:record/:association/add/:child',
    async run(api) {
      const user = await create(api, 'user')
      const pet = await create(api, 'pet')
      assert.deepEqual(ids(found(await api.ask('GET', `/user/${user.id}/pets/add/${pet.id}`)).pets), [pet.id])
    },
  },
  {
    name: '4, remove: DELETE /:model/:record/:association with the id in the body, many-to-many',
    async run(api) {
      const pet = await create(api, 'pet')
      const toy = await create(api, 'toy')
      found(await api.ask('POST', `/pet/${pet.id}/toys`, { json: { id: toy.sku } }))
      const parent = found(await api.ask('DELETE', `/pet/${pet.id}/toys`, { json: { id: toy.sku } }))
      assert.deepEqual([parent.id, parent.toys], [pet.id, []])
    },
  },
  {
    name: '4, remove shortcut: GET /:model/:record/:association/remove/:child',
    async run(api) {
      const user = await create(api, 'user')
      const pet = await create(api, 'pet', { owner: user.id })
      assert.deepEqual(found(await api.ask('GET', `/user/${user.id}/pets/remove/${pet.id}`)).pets, [])
    },
  },
  {
    name: '4, destroy: DELETE /:model/:record, and DELETE /:model with the id in the body, answer the record',
    async run(api) {
      const [one, two] = [await create(api, 'pet'), await create(api, 'pet')]
      const byPath = found(await api.ask('DELETE', `/pet/${one.id}`))
      const byBody = found(await api.ask('DELETE', '/pet', { json: { id: two.id } }))
      assert.deepEqual([byPath.id, byPath.name, byBody.id, byBody.name], [one.id, one.name, two.id, two.name])
    },
  },
  {
    name: '4, destroy shortcut: GET /:model/destroy/:record, the id must be in the path',
    async run(api) {
      const { id } = await create(api, 'pet')
      assert.equal((await api.ask('GET', `/pet/destroy?id=${id}`)).status, 400)
      assert.equal(found(await api.ask('GET', `/pet/destroy/${id}`)).id, id)
      notFound(await api.ask('GET', `/pet/${id}`))
    },
  },
  {
    name: '4, update and destroy: callback makes the answer JSONP',
    needsHttp: true,
    async run(api) {
      const { id } = await create(api, 'user')
      const updated = scriptArgument(await api.ask('PUT', `/user/${id}?callback=show`, { json: { age: 5 } }), 'show')
      assert.equal((updated as { age?: number }).age, 5)
      const shortcut = scriptArgument(await api.ask('GET', `/user/update/${id}?age=6&callback=show`), 'show')
      assert.equal((shortcut as { age?: number }).age, 6)
      const destroyed = scriptArgument(await api.ask('DELETE', `/user/${id}?callback=show`), 'show')
      assert.equal((destroyed as { id?: number }).id, id)
    },
  },
  {
    name: '4, a record whose primary key is a word of a shortcut answers to the REST routes',
    async run(api) {
      for (const sku of ['find', 'findOne', 'create', 'update', 'destroy']) {
        const pet = await create(api, 'pet')
        await create(api, 'toy', { sku })
        for (const method of ['PUT', 'PATCH', 'POST'])
          assert.equal(found(await api.ask(method, `/toy/${sku}`, { json: { title: method } })).title, method)
        assert.deepEqual(ids(found(await api.ask('POST', `/toy/${sku}/pets`, { json: { id: pet.id } })).pets), [pet.id])
        assert.deepEqual(found(await api.ask('GET', `/toy/${sku}/pets/remove/${pet.id}`)).pets, [])
        const { headers } = await api.ask('OPTIONS', `/toy/${sku}`)
        assert.match(String(headers.allow ?? headers.Allow), /\bPUT\b.*\bDELETE\b/)
        assert.equal(found(await api.ask('DELETE', `/toy/${sku}`)).sku, sku)
        notFound(await api.ask('DELETE', `/toy/${sku}`))
      }
      assert.equal((await api.ask('PUT', '/user/find', { json: {} })).status, 405, 'no user can have this id')
    },
  },
]
