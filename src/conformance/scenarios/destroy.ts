import assert from 'node:assert/strict'
import { column, create, list, record, refused, stored } from '../expect.ts'
import type { Scenario } from '../scenario.ts'

/** Destroying records, and the references to them. */
export const destroy: readonly Scenario[] = [
  {
    name: 'destroy: by path, by id in the body or the query, and by the shortcut; the answer is the destroyed record',
    async run(api) {
      const spellings = [
        (id: number) => api.request('DELETE', `/specimen/${id}`),
        (id: number) => api.request('DELETE', '/specimen', { body: { id } }),
        (id: number) => api.request('DELETE', '/specimen', { body: { id: String(id) } }),
        (id: number) => api.request('DELETE', `/specimen?id=${id}`),
        (id: number) => api.request('GET', `/specimen/destroy/${id}`),
      ]
      for (const ask of spellings) {
        const made = await create(api, 'specimen', { label: 'a', notes: [1] })
        assert.deepEqual(record(await ask(made.id as number)), made)
        refused(await api.request('GET', `/specimen/${made.id}`), 'E_NO_SUCH_RECORD')
        refused(await ask(made.id as number), 'E_NO_SUCH_RECORD', { model: 'specimen' })
      }
    },
  },
  {
    name: 'destroy: an id in the path precedes one in the body, which precedes one in the query',
    async run(api) {
      const [a, b, c] = [
        await create(api, 'specimen', {}),
        await create(api, 'specimen', {}),
        await create(api, 'specimen', {}),
      ]
      const path = await api.request('DELETE', `/specimen/${a.id}?id=${c.id}`, {
        body: { id: b.id as number },
      })
      assert.equal(record(path).id, a.id)
      const body = await api.request('DELETE', `/specimen?id=${c.id}`, { body: { id: b.id as number } })
      assert.equal(record(body).id, b.id)
      assert.deepEqual(column(await api.request('GET', '/specimen'), 'id'), [c.id])
    },
  },
  {
    name: 'destroy: only by id, never by another attribute',
    async run(api) {
      const { id } = await create(api, 'specimen', { label: 'a' })
      const bodies = [
        {},
        { id: null },
        { id: [id] },
        { id: { '>': 0 } },
        { id: 'abc' },
        { label: 'a' },
        { where: {} },
        { id: true },
      ]
      for (const body of bodies) {
        const answer = await api.request('DELETE', '/specimen', { body: body as never })
        assert.ok([400, 404].includes(answer.status), `${JSON.stringify(body)}: ${answer.text}`)
      }
      refused(await api.request('DELETE', '/specimen'), 'E_BAD_REQUEST', { model: 'specimen' })
      refused(await api.request('DELETE', `/specimen?id=${id}&id=${id}`), 'E_BAD_REQUEST')
      refused(await api.request('GET', '/specimen/destroy'), 'E_BAD_REQUEST')
      refused(await api.request('GET', `/specimen/destroy?id=${id}`), 'E_BAD_REQUEST')
      assert.equal(list(await api.request('GET', '/specimen')).length, 1)
    },
  },
  {
    name: 'destroy: the parameter is `id`, or the name of the primary key where it has another one',
    async run(api) {
      for (const code of ['A', 'B', 'C']) await create(api, 'enclosure', { code })
      const answers = [
        await api.request('DELETE', '/enclosure?populate=false', { body: { id: 'A', code: 'B' } }),
        await api.request('DELETE', '/enclosure?populate=false', { body: { code: 'B' } }),
        await api.request('DELETE', '/enclosure?populate=false&code=C'),
      ]
      assert.deepEqual(
        answers.map((answer) => record(answer).code),
        ['A', 'B', 'C'],
      )
      refused(await api.request('DELETE', '/enclosure', { body: { title: 'A' } }), 'E_BAD_REQUEST')
      refused(await api.request('GET', '/enclosure/destroy?code=A'), 'E_BAD_REQUEST')
    },
  },
  {
    name: 'destroy: foreign keys to the record become null',
    async run(api) {
      const ann = await create(api, 'keeper', { name: 'Ann' })
      const keeper = ann.id as number
      const bob = await create(api, 'keeper', { name: 'Bob', mentor: keeper })
      const leo = await create(api, 'animal', { name: 'Leo', keeper })
      const ticket = await create(api, 'ticket', { seat: '1', holder: keeper })
      record(await api.request('DELETE', `/keeper/${keeper}`))
      for (const [model, id, name] of [
        ['keeper', bob.id, 'mentor'],
        ['animal', leo.id, 'keeper'],
        ['ticket', ticket.id, 'holder'],
      ] as const) {
        assert.equal((await stored(api, model, id))[name], null, model)
      }
    },
  },
  {
    name: 'destroy: a string foreign key becomes null',
    async run(api) {
      await create(api, 'enclosure', { code: 'A 1' })
      const leo = await create(api, 'animal', { name: 'Leo', enclosure: 'A 1' })
      record(await api.request('DELETE', '/enclosure/A%201'))
      assert.equal((await stored(api, 'animal', leo.id)).enclosure, null)
    },
  },
  {
    name: 'destroy: a record that refers to itself can be destroyed',
    async run(api) {
      const { id } = await create(api, 'keeper', { name: 'Ann' })
      record(await api.request('PATCH', `/keeper/${id}`, { body: { mentor: id as number } }))
      record(await api.request('DELETE', `/keeper/${id}`))
      refused(await api.request('GET', `/keeper/${id}`), 'E_NO_SUCH_RECORD')
    },
  },
  {
    name: 'destroy: refused when a required association refers to the record, and nothing is changed',
    async run(api) {
      const leo = await create(api, 'animal', { name: 'Leo' })
      const meal = await create(api, 'feeding', { grams: 100, animal: leo.id as number })
      const problem = refused(await api.request('DELETE', `/animal/${leo.id}`), 'E_CONFLICT', {
        model: 'feeding',
        attribute: 'animal',
      })
      assert.match(String(problem.detail), /feeding/)
      refused(await api.request('GET', `/animal/destroy/${leo.id}`), 'E_CONFLICT')
      assert.deepEqual(await stored(api, 'animal', leo.id), leo)
      assert.deepEqual(await stored(api, 'feeding', meal.id), meal)
      record(await api.request('DELETE', `/feeding/${meal.id}`))
      record(await api.request('DELETE', `/animal/${leo.id}`))
    },
  },
]
