import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { column, create, invalid, list, record, refused, stored } from '../expect.ts'
import type { Answer, Api, Scenario } from '../scenario.ts'

async function cast(api: Api) {
  const make = async (model: string, values: JsonObject) => (await create(api, model, values)).id as number
  return {
    ann: await make('keeper', { name: 'Ann' }),
    bob: await make('keeper', { name: 'Bob' }),
    leo: await make('animal', { name: 'Leo' }),
    tom: await make('animal', { name: 'Tom' }),
    night: await make('team', { title: 'Night' }),
    day: await make('team', { title: 'Day' }),
  }
}

/** The ids of an association that an answer embeds. */
const embedded = (answer: Answer, name: string) =>
  (record(answer)[name] as readonly JsonObject[]).map((member) => member.id)

const members = async (api: Api, path: string) => column(await api.request('GET', `${path}?populate=false`), 'id')

/** Who belongs to whom: add, remove, replace, in every spelling. */
export const memberships: readonly Scenario[] = [
  {
    name: 'add: in each spelling; the answer is the parent with the child in it',
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
    name: 'add: one that is a member already changes nothing',
    async run(api) {
      const { ann, leo, night } = await cast(api)
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
    name: 'add: a child of another parent moves',
    async run(api) {
      const { ann, bob, leo } = await cast(api)
      record(await api.request('PUT', `/keeper/${ann}/animals/${leo}`))
      assert.deepEqual(embedded(await api.request('PUT', `/keeper/${bob}/animals/${leo}`), 'animals'), [leo])
      assert.deepEqual(await members(api, `/keeper/${ann}/animals`), [])
      assert.equal((await stored(api, 'animal', leo)).keeper, bob)
    },
  },
  {
    name: 'add: both sides of a many-to-many see it',
    async run(api) {
      const { ann, bob, night } = await cast(api)
      record(await api.request('PUT', `/keeper/${ann}/teams/${night}`))
      assert.deepEqual(embedded(await api.request('PUT', `/team/${night}/members/${bob}`), 'members'), [ann, bob])
      assert.deepEqual(await members(api, `/keeper/${bob}/teams`), [night])
    },
  },
  {
    name: 'add: a new child is made of the attributes in the body',
    async run(api) {
      const { ann } = await cast(api)
      const owned = await api.request('POST', `/keeper/${ann}/animals`, { body: { name: 'Rex', kind: 'cat' } })
      const [rex] = record(owned).animals as readonly JsonObject[]
      assert.equal(rex?.name, 'Rex')
      assert.equal((await stored(api, 'animal', rex?.id)).keeper, ann)
      const joined = await api.request('POST', `/keeper/${ann}/teams`, { body: { title: 'New' } })
      assert.deepEqual(
        (record(joined).teams as readonly JsonObject[]).map(({ title }) => title),
        ['New'],
      )
      invalid(await api.request('POST', `/keeper/${ann}/animals`, { body: { kind: 'dragon' } }), {
        name: ['required'],
        kind: ['isIn'],
      })
      invalid(await api.request('POST', `/keeper/${ann}/animals`), { name: ['required'] })
      assert.equal((await members(api, `/keeper/${ann}/animals`)).length, 1)
    },
  },
  {
    name: 'add: who is not there is not found in a path, and wrong in a body',
    async run(api) {
      const { ann, leo } = await cast(api)
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
    name: 'add: ids that cannot be are refused',
    async run(api) {
      const { ann, leo } = await cast(api)
      refused(await api.request('PUT', `/keeper/${ann}/animals/abc`), 'E_BAD_REQUEST', { model: 'animal' })
      refused(await api.request('PUT', `/keeper/abc/animals/${leo}`), 'E_BAD_REQUEST', { model: 'keeper' })
      for (const id of ['abc', null, {}, [leo], 1.5] as readonly Json[]) {
        refused(await api.request('POST', `/keeper/${ann}/animals`, { body: { id } }), 'E_BAD_REQUEST')
      }
      refused(await api.request('GET', `/keeper/${ann}/animals/add`), 'E_BAD_REQUEST')
    },
  },
  {
    name: 'add and remove: a to-one has no members',
    async run(api) {
      const { ann, bob } = await cast(api)
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
    name: 'remove: in each spelling; the answer is the parent without the child, which stays',
    async run(api) {
      const { ann, leo, tom, night, day } = await cast(api)
      for (const [association, model, gone, left] of [
        ['animals', 'animal', leo, tom],
        ['teams', 'team', night, day],
        ['favourites', 'animal', leo, tom],
      ] as const) {
        const base = `/keeper/${ann}/${association}`
        const spellings = [
          () => api.request('DELETE', base, { body: { id: gone } }),
          () => api.request('DELETE', `${base}?id=${gone}`),
          () => api.request('DELETE', `${base}/${gone}`),
          () => api.request('GET', `${base}/remove/${gone}`),
        ]
        for (const ask of spellings) {
          record(await api.request('PUT', base, { body: [gone, left] }))
          assert.deepEqual(embedded(await ask(), association), [left])
          assert.deepEqual(await members(api, base), [left])
          assert.equal((await stored(api, model, gone)).id, gone)
        }
      }
    },
  },
  {
    name: 'remove: who is no member is let be',
    async run(api) {
      const { ann, bob, leo, night } = await cast(api)
      record(await api.request('PUT', `/keeper/${ann}/animals/${leo}`))
      record(await api.request('PUT', `/keeper/${ann}/teams/${night}`))
      const before = await stored(api, 'animal', leo)
      for (const path of [`animals/${leo}`, `teams/${night}`, 'animals/999999', 'teams/999999']) {
        record(await api.request('DELETE', `/keeper/${bob}/${path}`))
      }
      assert.deepEqual(await stored(api, 'animal', leo), before)
      assert.deepEqual(await members(api, `/keeper/${ann}/teams`), [night])
      refused(await api.request('DELETE', `/keeper/999999/animals/${leo}`), 'E_NO_SUCH_RECORD', { model: 'keeper' })
      refused(await api.request('DELETE', `/keeper/${ann}/animals`), 'E_BAD_REQUEST')
      refused(await api.request('DELETE', `/keeper/${ann}/animals/abc`), 'E_BAD_REQUEST')
    },
  },
  {
    name: 'remove: what cannot be without its parent is not taken out',
    async run(api) {
      const { leo } = await cast(api)
      const meal = (await create(api, 'feeding', { grams: 1, animal: leo })).id
      refused(await api.request('DELETE', `/animal/${leo}/feedings/${meal}`), 'E_CONFLICT', {
        model: 'feeding',
        attribute: 'animal',
      })
      refused(await api.request('PUT', `/animal/${leo}/feedings`, { body: [] }), 'E_CONFLICT')
      assert.deepEqual(await members(api, `/animal/${leo}/feedings`), [meal])
    },
  },
  {
    name: 'replace: exactly these, by body and by shortcut',
    async run(api) {
      const { ann, leo, tom, night, day } = await cast(api)
      for (const [association, a, b] of [
        ['animals', leo, tom],
        ['teams', night, day],
        ['favourites', leo, tom],
      ] as const) {
        const path = `/keeper/${ann}/${association}`
        const cases = [
          [() => api.request('PUT', path, { body: [a] }), [a]],
          [() => api.request('PUT', path, { body: [b, String(a), a] }), [a, b].sort((x, y) => x - y)],
          [() => api.request('PUT', path, { body: [b] }), [b]],
          [() => api.request('GET', `${path}/replace?${association}=[${a},${b}]`), [a, b].sort((x, y) => x - y)],
          [() => api.request('GET', `${path}/replace?${association}=${a}`), [a]],
          [() => api.request('PUT', path, { body: [] }), []],
        ] as const
        for (const [ask, ids] of cases) {
          assert.deepEqual(embedded(await ask(), association), ids)
          assert.deepEqual(await members(api, path), ids)
        }
      }
    },
  },
  {
    name: 'replace: all or nothing',
    async run(api) {
      const { ann, leo, tom, night } = await cast(api)
      record(await api.request('PUT', `/keeper/${ann}/animals`, { body: [leo] }))
      record(await api.request('PUT', `/keeper/${ann}/teams`, { body: [night] }))
      invalid(await api.request('PUT', `/keeper/${ann}/animals`, { body: [tom, 999999] }), { animals: ['exists'] })
      invalid(await api.request('PUT', `/keeper/${ann}/teams`, { body: [999999] }), { teams: ['exists'] })
      for (const body of [['abc'], [null], [[leo]], [{}]] as readonly Json[]) {
        refused(await api.request('PUT', `/keeper/${ann}/animals`, { body }), 'E_BAD_REQUEST')
      }
      refused(await api.request('PUT', '/keeper/999999/animals', { body: [leo] }), 'E_NO_SUCH_RECORD', {
        model: 'keeper',
      })
      refused(await api.request('PUT', '/keeper/999999/teams', { body: [night] }), 'E_NO_SUCH_RECORD')
      refused(await api.request('GET', `/keeper/${ann}/animals/replace?animals=bad`), 'E_BAD_REQUEST')
      refused(await api.request('GET', `/keeper/${ann}/animals/replace`), 'E_BAD_REQUEST')
      assert.deepEqual(await members(api, `/keeper/${ann}/animals`), [leo])
      assert.deepEqual(await members(api, `/keeper/${ann}/teams`), [night])
    },
  },
  {
    name: 'members: create and update take lists of ids, and a list replaces',
    async run(api) {
      const { leo, tom, night, day } = await cast(api)
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
    name: 'members: a write with a member that is not there does not happen at all',
    async run(api) {
      const { ann, leo } = await cast(api)
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
    name: 'members: a record that goes is no member any more',
    async run(api) {
      const { ann, leo, tom, night } = await cast(api)
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
    name: 'members: pairs that are a model of their own are made and go with it',
    async run(api) {
      const { ann } = await cast(api)
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
