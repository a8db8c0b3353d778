import assert from 'node:assert/strict'
import type { JsonObject } from '../../protocol/json.ts'
import { column, create, invalid, record, refused, stored } from '../expect.ts'
import type { Scenario } from '../scenario.ts'

/** Updates: the methods and routes, and what they leave unchanged. */
export const update: readonly Scenario[] = [
  {
    name: 'update: PUT, PATCH, POST and the shortcut change the named attributes only',
    async run(api) {
      const { id, ...made } = await create(api, 'specimen', { label: 'a', weight: 1, notes: { a: 1, b: 2 } })
      const spellings = [
        () => api.request('PUT', `/specimen/${id}`, { body: { legs: 1 } }),
        () => api.request('PATCH', `/specimen/${id}`, { body: { legs: 2 } }),
        () => api.request('POST', `/specimen/${id}`, { body: { legs: 3 } }),
        () => api.request('GET', `/specimen/update/${id}?legs=4`),
        () => api.request('PUT', '/specimen', { body: { id: id as number, legs: 5 } }),
        () => api.request('PATCH', '/specimen', { body: { id: String(id), legs: 6 } }),
        () => api.request('PATCH', `/specimen?id=${id}`, { body: { legs: 7 } }),
        () => api.request('PATCH', `/specimen/${id}?legs=8`),
      ]
      for (const [index, ask] of spellings.entries()) {
        const updated = record(await ask())
        assert.deepEqual({ ...updated, updatedAt: '' }, { ...made, id, legs: index + 1, updatedAt: '' })
        assert.ok(String(updated.updatedAt) >= String(made.updatedAt), 'time does not go back')
        assert.deepEqual(await stored(api, 'specimen', id), updated)
      }
    },
  },
  {
    name: 'update: the key in the path wins over an id in the body or the query',
    async run(api) {
      const a = await create(api, 'specimen', { label: 'a' })
      const b = await create(api, 'specimen', { label: 'b' })
      const other = b.id as number
      const asked = [
        await api.request('PATCH', `/specimen/${a.id}`, { body: { id: other, legs: 1 } }),
        await api.request('PUT', `/specimen/${a.id}?id=${other}`, { body: { legs: 2 } }),
        await api.request('GET', `/specimen/update/${a.id}?id=${other}&legs=3`),
        await api.request('PATCH', `/specimen/${a.id}`, { body: { id: 'abc', legs: 4 } }),
      ]
      for (const answer of asked) assert.equal(record(answer).id, a.id)
      assert.deepEqual(await stored(api, 'specimen', other), b)
      const byBody = await api.request('PATCH', `/specimen?id=${a.id}`, { body: { id: other, legs: 5 } })
      assert.equal(record(byBody).id, other)
    },
  },
  {
    name: 'update: a key never changes',
    async run(api) {
      await create(api, 'enclosure', { code: 'A', title: 'a' })
      const answer = await api.request('PATCH', '/enclosure/A', { body: { code: 'B', id: 'C', title: 'b' } })
      assert.deepEqual([record(answer).code, record(answer).title], ['A', 'b'])
      assert.deepEqual(column(await api.request('GET', '/enclosure?populate=false'), 'code'), ['A'])
    },
  },
  {
    name: 'update: the parameter is `id`, or the name of the primary key where it has another one',
    async run(api) {
      for (const code of ['A', 'B']) await create(api, 'enclosure', { code })
      const answers = [
        await api.request('PATCH', '/enclosure', { body: { id: 'A', title: 't' } }),
        await api.request('PATCH', '/enclosure', { body: { id: 'A', code: 'B', title: 'u' } }),
        await api.request('PUT', '/enclosure', { body: { code: 'A', title: 'v' } }),
        await api.request('PUT', '/enclosure?code=A', { body: { title: 'w' } }),
        await api.request('GET', '/enclosure/update?code=A&title=x'),
      ]
      assert.deepEqual(
        answers.map((answer) => [record(answer).code, record(answer).title]),
        ['t', 'u', 'v', 'w', 'x'].map((title) => ['A', title]),
      )
      assert.equal((await stored(api, 'enclosure', 'B')).title, null)
    },
  },
  {
    name: 'update: a missing or impossible id is refused before the values are checked',
    async run(api) {
      const { id } = await create(api, 'specimen', { label: 'a' })
      const asked = [
        ['PATCH', '/specimen', { legs: 1 }],
        ['PATCH', '/specimen', { id: null, legs: 1 }],
        ['PATCH', '/specimen', { id: [id], legs: 1 }],
        ['PATCH', '/specimen', { id: { '>': 0 }, legs: 1 }],
        ['GET', '/specimen/update?legs=1', undefined],
      ] as const
      for (const [method, path, body] of asked) {
        refused(await api.request(method, path, body && { body: body as never }), 'E_BAD_REQUEST', {
          model: 'specimen',
        })
      }
      for (const [method, path, body] of [
        ['PATCH', '/specimen', { id: 'abc', nosuch: 1 }],
        ['PUT', '/specimen/abc', { nosuch: 1 }],
        ['GET', '/specimen/update/abc?legs=1', undefined],
        ['GET', '/specimen/update?id=abc&legs=1', undefined],
      ] as const) {
        refused(await api.request(method, path, body && { body }), 'E_NO_SUCH_RECORD', { model: 'specimen' })
      }
      assert.equal((await stored(api, 'specimen', id)).legs, null)
    },
  },
  {
    name: 'update: the shortcut takes the id in the path or in the query string',
    async run(api) {
      const { id } = await create(api, 'specimen', { label: 'a' })
      for (const [legs, path] of [`/specimen/update/${id}?legs=0`, `/specimen/update?id=${id}&legs=1`].entries()) {
        assert.equal(record(await api.request('GET', path)).legs, legs)
      }
    },
  },
  {
    name: 'update: a missing record is reported before invalid values',
    async run(api) {
      for (const body of [{ legs: 1 }, { legs: 'abc' }, {}, { nosuch: 1 }] as readonly JsonObject[]) {
        refused(await api.request('PATCH', '/specimen/999999', { body }), 'E_NO_SUCH_RECORD', { model: 'specimen' })
      }
      for (const query of ['legs=abc', 'nosuch=1']) {
        refused(await api.request('GET', `/specimen/update/999999?${query}`), 'E_NO_SUCH_RECORD')
      }
      for (const body of [
        { animals: 'x' },
        { mentor: { nosuch: 1 } },
        { name: '', nosuch: 1 },
      ] as readonly JsonObject[]) {
        refused(await api.request('PUT', '/keeper/999999', { body }), 'E_NO_SUCH_RECORD', { model: 'keeper' })
      }
    },
  },
  {
    name: 'update: every invalid value is named and nothing is changed',
    async run(api) {
      const made = await create(api, 'keeper', { name: 'Ann', age: 30 })
      const body = { name: '', age: 7, email: 'x', role: null }
      invalid(await api.request('PATCH', `/keeper/${made.id}`, { body }), {
        name: ['required'],
        age: ['min'],
        email: ['isEmail'],
        role: ['allowNull'],
      })
      invalid(await api.request('PATCH', `/keeper/${made.id}`, { body: { name: 'Bob', nosuch: 1 } }), {
        nosuch: ['unknown'],
      })
      invalid(await api.request('PUT', `/keeper/${made.id}`, { body: { ...body, nosuch: 1, animals: 'x' } }), {
        name: ['required'],
        age: ['min'],
        email: ['isEmail'],
        role: ['allowNull'],
        nosuch: ['unknown'],
        animals: ['type'],
      })
      assert.deepEqual(await stored(api, 'keeper', made.id), made)
    },
  },
  {
    name: 'update: nullable attributes can be set to null, and an empty update answers the record',
    async run(api) {
      const full = {
        label: 'a',
        weight: 1,
        legs: 1,
        serial: '1',
        alive: true,
        notes: [1],
        bornAt: '2026-01-01',
        photo: 'AAEC',
      }
      const { id } = await create(api, 'specimen', full)
      const cleared = Object.fromEntries(Object.keys(full).map((name) => [name, null]))
      const answer = record(await api.request('PATCH', `/specimen/${id}`, { body: cleared }))
      for (const name of Object.keys(full)) assert.equal(answer[name], null, name)
      const again = record(await api.request('PATCH', `/specimen/${id}`, { body: {} }))
      assert.deepEqual({ ...again, updatedAt: '' }, { ...answer, updatedAt: '' })
    },
  },
  {
    name: 'update: a JSON value is replaced, not merged',
    async run(api) {
      const { id } = await create(api, 'specimen', { notes: { a: 1, b: 2 } })
      assert.deepEqual(record(await api.request('PATCH', `/specimen/${id}`, { body: { notes: { c: 3 } } })).notes, {
        c: 3,
      })
    },
  },
  {
    name: 'update: a record may be sent back as a find returned it',
    async run(api) {
      const mentor = await create(api, 'keeper', { name: 'Ann' })
      const { id } = await create(api, 'keeper', { name: 'Bob', mentor: mentor.id as number })
      const found = record(await api.request('GET', `/keeper/${id}?populate=mentor`))
      const answer = await api.request('PUT', `/keeper/${id}?populate=false`, { body: { ...found, name: 'Rob' } })
      assert.deepEqual([record(answer).name, record(answer).mentor], ['Rob', mentor.id])
      assert.equal(record(answer).createdAt, found.createdAt)
    },
  },
  {
    name: 'update: a body that is an array is refused',
    async run(api) {
      const made = await create(api, 'specimen', { label: 'a' })
      refused(await api.request('PATCH', `/specimen/${made.id}`, { body: [{ label: 'b' }] }), 'E_BAD_BODY')
      assert.deepEqual(await stored(api, 'specimen', made.id), made)
    },
  },
]
