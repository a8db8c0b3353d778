import assert from 'node:assert/strict'
import { address, column, create, list, record, refused } from '../expect.ts'
import type { Api, Scenario } from '../scenario.ts'

async function createFixtures(api: Api) {
  const ann = (await create(api, 'keeper', { name: 'Ann' })).id as number
  const bob = (await create(api, 'keeper', { name: 'Bob', mentor: ann })).id as number
  for (const [name, weight] of [
    ['Leo', 190],
    ['Tom', 4],
    ['Tweety', 0.1],
  ] as const) {
    await create(api, 'animal', { name, weight, keeper: ann, kind: name === 'Tweety' ? 'bird' : 'cat' })
  }
  const nemo = (await create(api, 'animal', { name: 'Nemo', kind: 'fish' })).id as number
  return { ann, bob, nemo }
}

/** The associated records of one record, at an address of their own. */
export const associationLists: readonly Scenario[] = [
  {
    name: 'association lists: filters, sorting, paging and projection apply to the members',
    async run(api) {
      const { ann, bob } = await createFixtures(api)
      const cases = [
        ['', ['Leo', 'Tom', 'Tweety']],
        ['limit=2', ['Leo', 'Tom']],
        ['limit=1&skip=1', ['Tom']],
        ['sort=name%20DESC', ['Tweety', 'Tom', 'Leo']],
        ['kind=bird', ['Tweety']],
        ['weight[<]=100', ['Tom', 'Tweety']],
        ['where={"or":[{"name":"Leo"},{"name":"Nemo"}]}', ['Leo']],
        ['where={"not":{"kind":"bird"}}', ['Leo', 'Tom']],
      ] as const
      for (const [query, names] of cases) {
        assert.deepEqual(column(await api.request('GET', `/keeper/${ann}/animals?${query}`), 'name'), names, query)
      }
      assert.deepEqual(list(await api.request('GET', `/keeper/${bob}/animals`)), [])
      const [leo] = list(await api.request('GET', `/keeper/${ann}/animals?select=name&populate=false&limit=1`))
      assert.deepEqual(Object.keys(leo ?? {}), ['id', 'name'])
    },
  },
  {
    name: 'association lists: a page holds thirty records, like any list',
    settings: { limits: { defaultLimit: 2, maxLimit: 3 } },
    async run(api) {
      const { ann } = await createFixtures(api)
      assert.deepEqual(column(await api.request('GET', `/keeper/${ann}/animals`), 'name'), ['Leo', 'Tom'])
      assert.deepEqual(column(await api.request('GET', `/keeper/${ann}/animals?limit=3`), 'name'), [
        'Leo',
        'Tom',
        'Tweety',
      ])
      refused(await api.request('GET', `/keeper/${ann}/animals?limit=4`), 'E_BAD_CRITERIA', { limit: 'maxLimit' })
    },
  },
  {
    name: 'association lists: invalid list parameters are refused',
    async run(api) {
      const { ann } = await createFixtures(api)
      for (const query of ['nosuch=1', 'limit=abc', 'sort=nosuch', 'where={', 'select=nosuch', 'age=4']) {
        refused(await api.request('GET', `/keeper/${ann}/animals?${query}`), 'E_BAD_CRITERIA')
      }
    },
  },
  {
    name: 'association lists: one member by its key, and 404 for a record that is not a member',
    async run(api) {
      const { ann, nemo } = await createFixtures(api)
      const [leo] = column(await api.request('GET', '/animal?populate=false&name=Leo'), 'id')
      assert.equal(record(await api.request('GET', `/keeper/${ann}/animals/${leo}`)).name, 'Leo')
      for (const path of [
        `/keeper/${ann}/animals/${nemo}`,
        `/keeper/${ann}/animals/999999`,
        `/keeper/999999/animals/${leo}`,
      ]) {
        refused(await api.request('GET', path), 'E_NO_SUCH_RECORD')
      }
      refused(await api.request('GET', `/keeper/${ann}/animals/abc`), 'E_NO_SUCH_RECORD', { model: 'animal' })
    },
  },
  {
    name: 'association lists: a to-one answers its record, or 404 when it is null',
    async run(api) {
      const { ann, bob } = await createFixtures(api)
      assert.equal(record(await api.request('GET', `/keeper/${bob}/mentor`)).id, ann)
      assert.deepEqual(record(await api.request('GET', `/keeper/${bob}/mentor?select=name&populate=false`)), {
        id: ann,
        name: 'Ann',
      })
      refused(await api.request('GET', `/keeper/${ann}/mentor`), 'E_NO_SUCH_RECORD', { model: 'keeper' })
      for (const query of ['limit=1', 'sort=name', 'where={}', 'name=Ann']) {
        refused(await api.request('GET', `/keeper/${bob}/mentor?${query}`), 'E_BAD_CRITERIA')
      }
    },
  },
  {
    name: 'association lists: 404 for a missing parent and for an unknown association, whose name is matched in any letter case',
    async run(api) {
      const { ann } = await createFixtures(api)
      for (const path of ['/keeper/999999/animals', '/keeper/999999/mentor', '/keeper/999999/teams']) {
        refused(await api.request('GET', path), 'E_NO_SUCH_RECORD', { model: 'keeper' })
      }
      refused(await api.request('GET', '/keeper/abc/animals'), 'E_NO_SUCH_RECORD', { model: 'keeper' })
      for (const name of ['nosuch', 'name', 'animal', '__proto__', 'constructor', 'toString']) {
        refused(await api.request('GET', `/keeper/${ann}/${name}`), 'E_NO_SUCH_ROUTE')
      }
      for (const name of ['animals', 'ANIMALS']) {
        assert.deepEqual(column(await api.request('GET', `/keeper/${ann}/${name}`), 'name'), ['Leo', 'Tom', 'Tweety'])
      }
    },
  },
  {
    name: 'association lists: every kind of association is listed, from both sides',
    async run(api) {
      const ann = (await create(api, 'keeper', { name: 'Ann' })).id as number
      const bob = (await create(api, 'keeper', { name: 'Bob', mentor: ann })).id as number
      const night = (await create(api, 'team', { title: 'Night', members: [ann, bob] })).id as number
      await create(api, 'enclosure', { code: 'C 1' })
      await create(api, 'enclosure', { code: 'C 2' })
      const leo = (await create(api, 'animal', { name: 'Leo', enclosure: 'C 1' })).id as number
      await create(api, 'feeding', { grams: 5, animal: leo })
      await create(api, 'shift', { hours: 8, keeper: ann, post: 'C 2' })
      record(await api.request('PUT', `/keeper/${ann}/favourites`, { body: [leo] }))
      record(await api.request('PUT', `/team/${night}/venues`, { body: ['C 1', 'C 2'] }))
      const cases = [
        [`/keeper/${ann}/trainees`, 'name', ['Bob']],
        [`/keeper/${ann}/teams`, 'title', ['Night']],
        [`/team/${night}/members`, 'name', ['Ann', 'Bob']],
        [`/keeper/${ann}/favourites`, 'name', ['Leo']],
        [`/keeper/${bob}/favourites`, 'name', []],
        [`/keeper/${ann}/posts`, 'code', ['C 2']],
        [`/team/${night}/venues`, 'code', ['C 1', 'C 2']],
        [`/enclosure/C%201/animals`, 'name', ['Leo']],
        [`/enclosure/C%202/animals`, 'name', []],
        [`/animal/${leo}/feedings`, 'grams', [5]],
      ] as const
      for (const [path, name, values] of cases)
        assert.deepEqual(column(await api.request('GET', path), name), values, path)
      const venues = address(`/team/${night}/venues`, { where: { code: { '>': 'C 1' } } })
      assert.deepEqual(column(await api.request('GET', venues), 'code'), ['C 2'])
    },
  },
]
