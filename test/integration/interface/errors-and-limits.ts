import assert from 'node:assert/strict'
import { type Clause, create, found, notFound } from './api.ts'

/** Sections 7 and 8: errors and limits. */
export const errorsAndLimits: readonly Clause[] = [
  {
    name: '7, 400: an update that fails validation names the invalid attributes',
    async run(api) {
      const { id } = await create(api, 'user')
      for (const [method, url, json] of [
        ['PUT', `/user/${id}`, { age: 'many', name: '' }],
        ['GET', `/user/update/${id}?age=many&name=`, undefined],
      ] as const) {
        const { status, body } = await api.ask(method, url, json && { json })
        assert.equal(status, 400)
        assert.deepEqual(Object.keys(body.invalidAttributes).sort(), ['age', 'name'])
      }
    },
  },
  {
    name: '7, 404: update and destroy of an id without a record, by every route',
    async run(api) {
      for (const id of ['999999', 'abc', '1.5', '-', '9007199254740993']) {
        notFound(await api.ask('GET', `/user/${id}`))
        notFound(await api.ask('GET', `/user/find/${id}`))
        for (const method of ['PUT', 'PATCH', 'POST'])
          notFound(await api.ask(method, `/user/${id}`, { json: { age: 1 } }))
        notFound(await api.ask('PUT', '/user', { json: { id, age: 1 } }))
        notFound(await api.ask('GET', `/user/update/${id}?age=1`))
        notFound(await api.ask('GET', `/user/update?id=${id}&age=1`))
        notFound(await api.ask('DELETE', `/user/${id}`))
        notFound(await api.ask('DELETE', '/user', { json: { id } }))
        notFound(await api.ask('GET', `/user/destroy/${id}`))
      }
    },
  },
  {
    name: '7, 404: an association of an id without a record',
    async run(api) {
      const pet = await create(api, 'pet')
      const user = await create(api, 'user')
      for (const id of ['999999', 'abc']) {
        notFound(await api.ask('GET', `/user/${id}/pets`))
        notFound(await api.ask('POST', `/user/${id}/pets`, { json: { id: pet.id } }))
        notFound(await api.ask('DELETE', `/user/${id}/pets`, { json: { id: pet.id } }))
        notFound(await api.ask('PUT', `/user/${id}/pets`, { json: [pet.id] }))
        notFound(await api.ask('GET', `/user/${id}/pets/add/${pet.id}`))
        notFound(await api.ask('GET', `/user/${id}/pets/remove/${pet.id}`))
        notFound(await api.ask('GET', `/user/${user.id}/pets/add/${id}`))
        notFound(await api.ask('GET', `/user/${user.id}/pets/${id}`))
      }
      assert.deepEqual(found(await api.ask('GET', `/user/${user.id}/pets`)), [])
    },
  },
  {
    name: '7, 404: an unknown id is reported before invalid values',
    async run(api) {
      notFound(await api.ask('PUT', '/user/abc', { json: { age: 'many' } }))
      notFound(await api.ask('PUT', '/user/999999', { json: { age: 'many' } }))
    },
  },
  {
    name: '7, 400: a filter with a text that no database stores says so',
    async run(api) {
      for (const where of ['{"name":"a\\u0000"}', '{"name":{"contains":"\\ud800"}}', '{"name":["a","\\u0000"]}']) {
        const { status, body } = await api.ask('GET', `/user?where=${encodeURIComponent(where)}`)
        assert.equal(status, 400)
        assert.match(body.detail, /for "name" must not contain NUL or an unpaired surrogate$/)
      }
    },
  },
  {
    name: '7, 400: a condition that is given twice says so, and a list of ids is one',
    async run(api) {
      const { id } = await create(api, 'user')
      const { status, body } = await api.ask('GET', `/user?where={"id":${id}}&where={"id":${id}}`)
      assert.deepEqual(
        [status, body.detail],
        [400, '"where" is given more than once: combine conditions by {"and":[…]}'],
      )
      for (const list of [`where[]=${id}`, `where=[${id}]`])
        assert.equal(found(await api.ask('GET', `/user?${list}`)).length, 1)
    },
  },
  {
    name: '8, limits: a find returns 30 records by default',
    async run(api) {
      for (let count = 0; count < 31; count++) await create(api, 'item')
      assert.equal(found(await api.ask('GET', '/item')).length, 30)
      assert.ok(found(await api.ask('GET', '/item?limit=31')).length === 31)
    },
  },
]
