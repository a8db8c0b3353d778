import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { column, create, invalid, list, record, refused, stored } from '../expect.ts'
import { createFixtures, embedded, members } from '../member-fixtures.ts'
import type { Scenario } from '../scenario.ts'

/** Members of associations: add, remove and replace, by every route. */
export const memberships: readonly Scenario[] = [
  {
    name: 'add: by each route; the answer is the parent including the child',
    async run(api) {
      for (const [association, model, values] of [
        ['animals', 'animal', { name: 'Leo' }],
        ['favourites', 'animal', { name: 'Leo' }],
        ['teams', 'team', { title: 'T' }],
      ] as const) {
        const spellings = [
          (parent: number, child: number) =>
            api.request('POST', `/keeper/${parent}/${association}`, { body: { id: child } }),
          (parent: number, child: number) =>
            api.request('POST', `/keeper/${parent}/${association}`, { body: { id: String(child) } }),
          (parent: number, child: number) => api.request('POST', `/keeper/${parent}/${association}?id=${child}`),
          (parent: number, child: number) => api.request('POST', `/keeper/${parent}/${association}/${child}`),
          (parent: number, child: number) => api.request('PUT', `/keeper/${parent}/${association}/${child}`),
          (parent: number, child: number) => api.request('GET', `/keeper/${parent}/${association}/add/${child}`),
        ]
        for (const [index, ask] of spellings.entries()) {
          const parent = (await create(api, 'keeper', { name: `Ann ${index}` })).id as number
          const child = (await create(api, model, 'title' in values ? { title: `T ${index}` } : values)).id as number
          const answer = await ask(parent, child)
          assert.equal(record(answer).id, parent)
          assert.deepEqual(embedded(answer, association), [child])
          assert.deepEqual(await members(api, `/keeper/${parent}/${association}`), [child])
        }
      }
    },
  },
  {
    name: 'add: an existing member changes nothing',
    async run(api) {
      const { ann, leo, night } = await createFixtures(api)
      for (const [association, child] of [
        ['animals', leo],
        ['teams', night],
        ['favourites', leo],
      ] as const) {
        for (let round = 0; round < 2; round++) {
          assert.deepEqual(embedded(await api.request('PUT', `/keeper/${ann}/${association}/${child}`), association), [
            child,
          ])
        }
      }
      const before = await stored(api, 'animal', leo)
      record(await api.request('PUT', `/keeper/${ann}/animals/${leo}`))
      assert.deepEqual(await stored(api, 'animal', leo), before)
    },
  },
  {
    name: 'add: a child of another parent is moved',
    async run(api) {
      const { ann, bob, leo } = await createFixtures(api)
      record(await api.request('PUT', `/keeper/${ann}/animals/${leo}`))
      assert.deepEqual(embedded(await api.request('PUT', `/keeper/${bob}/animals/${leo}`), 'animals'), [leo])
      assert.deepEqual(await members(api, `/keeper/${ann}/animals`), [])
      assert.equal((await stored(api, 'animal', leo)).keeper, bob)
    },
  },
  {
    name: 'add: a many-to-many is visible from both sides',
    async run(api) {
      const { ann, bob, night } = await createFixtures(api)
      record(await api.request('PUT', `/keeper/${ann}/teams/${night}`))
      assert.deepEqual(embedded(await api.request('PUT', `/team/${night}/members/${bob}`), 'members'), [ann, bob])
      assert.deepEqual(await members(api, `/keeper/${bob}/teams`), [night])
    },
  },
  {
    name: 'add: attributes in the body create a new child',
    async run(api) {
      const { ann } = await createFixtures(api)
      const owned = await api.request('POST', `/keeper/${ann}/animals`, { body: { name: 'Rex', kind: 'cat' } })
      const [rex] = record(owned).animals as readonly JsonObject[]
      assert.equal(rex?.name, 'Rex')
      assert.equal((await stored(api, 'animal', rex?.id)).keeper, ann)
      const joined = await api.request('POST', `/keeper/${ann}/teams`, { body: { title: 'New' } })
      assert.deepEqual(
        (record(joined).teams as readonly JsonObject[]).map(({ title }) => title),
        ['New'],
      )
      invalid(await api.request('POST', `/keeper/${ann}/animals`, { body: { kind: 'dragon', nosuch: 1 } }), {
        name: ['required'],
        kind: ['isIn'],
        nosuch: ['unknown'],
      })
      invalid(await api.request('POST', `/keeper/${ann}/animals`), { name: ['required'] })
      assert.equal((await members(api, `/keeper/${ann}/animals`)).length, 1)
    },
  },
  {
    name: 'add: a missing record is 404 in a path and 400 in a body',
    async run(api) {
      const { ann, leo } = await createFixtures(api)
      for (const path of [
        `/keeper/${ann}/animals/999999`,
        `/keeper/${ann}/teams/999999`,
        `/keeper/999999/animals/${leo}`,
      ]) {
        refused(await api.request('PUT', path), 'E_NO_SUCH_RECORD')
      }
      refused(await api.request('GET', `/keeper/${ann}/animals/add/999999`), 'E_NO_SUCH_RECORD', { model: 'animal' })
      for (const association of ['animals', 'teams', 'favourites']) {
        invalid(await api.request('POST', `/keeper/${ann}/${association}`, { body: { id: 999999 } }), {
          [association]: ['exists'],
        })
      }
      refused(await api.request('POST', '/keeper/999999/teams', { body: { title: 'Lost' } }), 'E_NO_SUCH_RECORD', {
        model: 'keeper',
      })
      assert.equal(list(await api.request('GET', '/team?title=Lost')).length, 0)
    },
  },
  {
    name: 'add: invalid ids are refused',
    async run(api) {
      const { ann, leo } = await createFixtures(api)
      refused(await api.request('PUT', `/keeper/${ann}/animals/abc`), 'E_NO_SUCH_RECORD', { model: 'animal' })
      refused(await api.request('PUT', `/keeper/abc/animals/${leo}`), 'E_NO_SUCH_RECORD', { model: 'keeper' })
      for (const id of ['abc', null, {}, [leo], 1.5] as readonly Json[]) {
        refused(await api.request('POST', `/keeper/${ann}/animals`, { body: { id } }), 'E_BAD_REQUEST')
      }
      refused(await api.request('GET', `/keeper/${ann}/animals/add`), 'E_BAD_REQUEST')
    },
  },
  {
    name: 'add and remove: refused for a to-one',
    async run(api) {
      const { ann, bob } = await createFixtures(api)
      const asked = [
        ['POST', `/keeper/${ann}/mentor`],
        ['PUT', `/keeper/${ann}/mentor/${bob}`],
        ['PUT', `/keeper/${ann}/mentor`],
        ['DELETE', `/keeper/${ann}/mentor/${bob}`],
        ['GET', `/keeper/${ann}/mentor/add/${bob}`],
        ['GET', `/keeper/${ann}/mentor/remove/${bob}`],
        ['PUT', `/keeper/${ann}/name/${bob}`],
        ['DELETE', `/keeper/${ann}/nosuch/${bob}`],
      ] as const
      for (const [method, path] of asked) {
        const given = method === 'GET' ? {} : { body: { id: bob } }
        refused(await api.request(method, path, given), 'E_NO_SUCH_ROUTE')
      }
      assert.equal((await stored(api, 'keeper', ann)).mentor, null)
    },
  },
  {
    name: 'members: create and update accept lists of ids that replace the members',
    async run(api) {
      const { leo, tom, night, day } = await createFixtures(api)
      const body = { name: 'Cy', animals: [leo, tom], teams: night, favourites: [{ id: tom, name: 'passed over' }] }
      const { id } = record(await api.request('POST', '/keeper', { body }), 201)
      assert.deepEqual(await members(api, `/keeper/${id}/animals`), [leo, tom])
      assert.deepEqual(await members(api, `/keeper/${id}/teams`), [night])
      assert.deepEqual(await members(api, `/keeper/${id}/favourites`), [tom])
      record(await api.request('PATCH', `/keeper/${id}`, { body: { animals: [tom], teams: [day, night] } }))
      assert.deepEqual(await members(api, `/keeper/${id}/animals`), [tom])
      assert.deepEqual(await members(api, `/keeper/${id}/teams`), [night, day])
      assert.equal((await stored(api, 'animal', leo)).keeper, null)
      record(await api.request('PATCH', `/keeper/${id}`, { body: { animals: [] } }))
      assert.deepEqual(await members(api, `/keeper/${id}/animals`), [])
      assert.deepEqual(await members(api, `/keeper/${id}/teams`), [night, day])
    },
  },
  {
    name: 'members: a write with a missing member changes nothing',
    async run(api) {
      const { ann, leo } = await createFixtures(api)
      invalid(await api.request('POST', '/keeper', { body: { name: 'Cy', animals: [leo, 999999] } }), {
        animals: ['exists'],
      })
      assert.deepEqual(column(await api.request('GET', '/keeper?populate=false'), 'name'), ['Ann', 'Bob'])
      invalid(await api.request('PATCH', `/keeper/${ann}`, { body: { name: 'Anna', teams: [999999] } }), {
        teams: ['exists'],
      })
      invalid(await api.request('PATCH', `/keeper/${ann}`, { body: { animals: null } }), { animals: ['type'] })
      invalid(await api.request('PATCH', `/keeper/${ann}`, { body: { animals: ['abc'] } }), { animals: ['type'] })
      assert.equal((await stored(api, 'keeper', ann)).name, 'Ann')
      assert.equal((await stored(api, 'animal', leo)).keeper, null)
    },
  },
  {
    name: 'members: destroying a record removes its memberships',
    async run(api) {
      const { ann, leo, tom, night } = await createFixtures(api)
      record(
        await api.request('PATCH', `/keeper/${ann}`, {
          body: { teams: [night], favourites: [leo, tom], animals: [leo] },
        }),
      )
      record(await api.request('DELETE', `/animal/${leo}`))
      assert.deepEqual(await members(api, `/keeper/${ann}/favourites`), [tom])
      assert.deepEqual(await members(api, `/keeper/${ann}/animals`), [])
      record(await api.request('DELETE', `/keeper/${ann}`))
      assert.deepEqual(await members(api, `/team/${night}/members`), [])
      assert.equal((await stored(api, 'animal', tom)).id, tom)
    },
  },
  {
    name: 'members: where the junction is a declared model, its records are created and destroyed with the members',
    async run(api) {
      const { ann } = await createFixtures(api)
      await create(api, 'enclosure', { code: 'C 1' })
      const answer = await api.request('PUT', `/keeper/${ann}/posts/C%201`)
      assert.deepEqual(
        (record(answer).posts as readonly JsonObject[]).map(({ code }) => code),
        ['C 1'],
      )
      const [shift] = list(await api.request('GET', '/shift?populate=false'))
      assert.deepEqual([shift?.keeper, shift?.post, shift?.hours], [ann, 'C 1', null])
      record(await api.request('DELETE', `/keeper/${ann}/posts/C%201`))
      assert.deepEqual(list(await api.request('GET', '/shift')), [])
    },
  },
]
