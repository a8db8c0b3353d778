import assert from 'node:assert/strict'
import type { JsonObject } from '../../protocol/json.ts'
import { column, create, invalid, list, record, refused } from '../expect.ts'
import type { Api, Scenario } from '../scenario.ts'

const names = (records: unknown): readonly unknown[] =>
  (records as readonly JsonObject[]).map(({ name, title }) => name ?? title).sort()

/** The number of records of each model, to see that a refused write stored nothing. */
async function counts(api: Api): Promise<readonly number[]> {
  const answers: number[] = []
  for (const model of ['keeper', 'animal', 'feeding', 'team', 'enclosure', 'shift']) {
    answers.push(list(await api.request('GET', `/${model}`)).length)
  }
  return answers
}

/** New records inside of a record that is written: one transaction creates all of them and their associations. */
export const nestedWrites: readonly Scenario[] = [
  {
    name: 'nested writes: a new record is created with the new record it refers to',
    async run(api) {
      const body = { name: 'Rex', keeper: { name: 'Ann', mentor: { name: 'Bob' } } }
      const animal = record(await api.request('POST', '/animal', { body }), 201)
      const keeper = animal.keeper as JsonObject
      assert.equal(keeper.name, 'Ann')
      assert.equal(record(await api.request('GET', `/keeper/${keeper.mentor}`)).name, 'Bob')
    },
  },
  {
    name: 'nested writes: a new record is created with new members, beside existing ones',
    async run(api) {
      const tom = await create(api, 'animal', { name: 'Tom' })
      const staff = await create(api, 'team', { title: 'staff' })
      const body: JsonObject = {
        name: 'Ann',
        animals: [{ name: 'Rex', feedings: [{ grams: 3 }, { grams: 4 }] }, tom.id as number, { name: 'Ivy' }],
        teams: [{ title: 'night' }, staff],
        posts: [{ code: 'north' }],
      }
      refused(await api.request('POST', '/keeper', { body }), 'E_INVALID_ATTRIBUTES')
      await create(api, 'enclosure', { code: 'north' })
      const keeper = record(await api.request('POST', '/keeper', { body }), 201)
      assert.deepEqual(names(keeper.animals), ['Ivy', 'Rex', 'Tom'])
      assert.deepEqual(names(keeper.teams), ['night', 'staff'])
      assert.equal((keeper.posts as readonly JsonObject[])[0]?.code, 'north')
      const feedings = list(await api.request('GET', '/feeding?sort=grams'))
      assert.deepEqual(
        feedings.map(({ grams, animal }) => [grams, (animal as JsonObject).name]),
        [
          [3, 'Rex'],
          [4, 'Rex'],
        ],
      )
    },
  },
  {
    name: 'nested writes: an update creates what it refers to, and new members',
    async run(api) {
      const keeper = await create(api, 'keeper', { name: 'Ann' })
      const old = await create(api, 'animal', { name: 'Old', keeper: keeper.id as number })
      for (const method of ['PUT', 'PATCH']) {
        const body = { mentor: { name: `${method}-mentor` }, animals: [{ name: `${method}-animal` }] }
        const updated = record(await api.request(method, `/keeper/${keeper.id}`, { body }))
        assert.equal((updated.mentor as JsonObject).name, `${method}-mentor`)
        assert.deepEqual(names(updated.animals), [`${method}-animal`])
      }
      assert.equal(record(await api.request('GET', `/animal/${old.id}`)).keeper, null)
      const missing = { mentor: { name: 'Nobody' } }
      const before = await counts(api)
      refused(await api.request('PUT', '/keeper/999999', { body: missing }), 'E_NO_SUCH_RECORD')
      assert.deepEqual(await counts(api), before)
    },
  },
  {
    name: 'nested writes: an added member may contain new records',
    async run(api) {
      const keeper = await create(api, 'keeper', { name: 'Ann' })
      const body = { name: 'Rex', enclosure: null, feedings: [{ grams: 3 }] }
      const answer = record(await api.request('POST', `/keeper/${keeper.id}/animals`, { body }))
      assert.deepEqual(names(answer.animals), ['Rex'])
      assert.deepEqual(column(await api.request('GET', '/feeding'), 'grams'), [3])
    },
  },
  {
    name: 'nested writes: violations of all records are reported by their place, and nothing is stored',
    async run(api) {
      const before = await counts(api)
      const body: JsonObject = {
        name: 'A',
        mentor: { name: 'B', age: 3 },
        animals: [{ name: 'Rex' }, { name: '', feedings: [{ grams: 'x' }] }],
      }
      invalid(await api.request('POST', '/keeper', { body }), {
        'mentor.name': ['minLength'],
        'mentor.age': ['min'],
        name: ['minLength'],
        'animals.1.name': ['required'],
        'animals.1.feedings.0.grams': ['type'],
      })
      const unknown = { name: 'Ann', animals: [{ name: 'Rex', nme: 1 }] }
      invalid(await api.request('POST', '/keeper', { body: unknown }), { 'animals.0.nme': ['unknown'] })
      const dangling = { name: 'Ann', animals: [{ name: 'Rex', enclosure: 'nowhere' }] }
      refused(await api.request('POST', '/keeper', { body: dangling }), 'E_INVALID_ATTRIBUTES')
      const taken = { name: 'Ann', teams: [{ title: 'day' }, { title: 'day' }] }
      refused(await api.request('POST', '/keeper', { body: taken }), 'E_INVALID_ATTRIBUTES')
      assert.deepEqual(await counts(api), before)
    },
  },
  {
    name: 'nested writes: the number of new records has a limit',
    settings: { limits: { maxAssociated: 3 } },
    async run(api) {
      const animals = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `a${index}` }))
      record(await api.request('POST', '/keeper', { body: { name: 'Ann', animals: animals(3) } }), 201)
      const body = { name: 'Bob', mentor: { name: 'Eve' }, animals: animals(3) }
      invalid(await api.request('POST', '/keeper', { body }), { animals: ['maxAssociated'] })
    },
  },
]
