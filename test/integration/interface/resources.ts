import assert from 'node:assert/strict'
import { type Clause, create, found, notFound, uniqueName } from './api.ts'

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Sections 1 to 3: what the service does, its resources, and their states. */
export const resources: readonly Clause[] = [
  {
    name: '1, route styles: a write has a REST route with a body and a shortcut with a query string',
    async run(api) {
      const { id } = await create(api, 'user')
      assert.equal(found(await api.ask('PUT', `/user/${id}`, { json: { name: 'rest' } })).name, 'rest')
      assert.equal(found(await api.ask('GET', `/user/update/${id}?name=shortcut`)).name, 'shortcut')
    },
  },
  {
    name: '1, bodies are form-encoded or JSON, responses are JSON',
    needsHttp: true,
    async run(api) {
      const { id } = await create(api, 'user')
      const type = 'application/x-www-form-urlencoded'
      const answer = await api.ask('PUT', `/user/${id}`, { type, text: 'name=a+form&age=7' })
      const { name, age } = found(answer)
      assert.deepEqual({ name, age }, { name: 'a form', age: 7 })
      assert.match(String(answer.headers['content-type']), /^application\/json/)
    },
  },
  {
    name: '2, record: id, createdAt and updatedAt are in every record, times in UTC with milliseconds',
    async run(api) {
      const { id } = await create(api, 'pet')
      const [listed] = found(await api.ask('GET', `/pet?id=${id}`))
      const updated = found(await api.ask('PUT', `/pet/${id}`, { json: { name: 'x' } }))
      const destroyed = found(await api.ask('DELETE', `/pet/${id}`))
      for (const record of [listed, updated, destroyed]) {
        assert.equal(record.id, id)
        assert.match(record.createdAt, timestamp)
        assert.match(record.updatedAt, timestamp)
      }
    },
  },
  {
    name: '2, record: attributes are strings, numbers, objects or arrays, as top-level fields',
    async run(api) {
      const values = { name: uniqueName(), age: 3, extra: { a: [1, { b: null }] } }
      const { id } = await create(api, 'user', values)
      const { name, age, extra } = found(await api.ask('GET', `/user/${id}`))
      assert.deepEqual({ name, age, extra }, values)
      assert.deepEqual(found(await api.ask('PUT', `/user/${id}`, { json: { extra: [1, 'two'] } })).extra, [1, 'two'])
    },
  },
  {
    name: '2, record: an association operation answers the association as an array of full records',
    async run(api) {
      const { id } = await create(api, 'user')
      const pet = await create(api, 'pet')
      const [embedded] = found(await api.ask('POST', `/user/${id}/pets`, { json: { id: pet.id } })).pets
      assert.deepEqual([embedded.id, embedded.name, embedded.createdAt], [pet.id, pet.name, pet.createdAt])
      assert.match(embedded.updatedAt, timestamp)
    },
  },
  {
    name: '3, states: a destroyed record does not exist afterwards',
    async run(api) {
      const { id } = await create(api, 'user')
      found(await api.ask('DELETE', `/user/${id}`))
      notFound(await api.ask('GET', `/user/${id}`))
      notFound(await api.ask('PUT', `/user/${id}`, { json: { age: 1 } }))
      notFound(await api.ask('DELETE', `/user/${id}`))
    },
  },
]
