import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { address, column, create, refused } from '../expect.ts'
import type { Api, Scenario } from '../scenario.ts'

async function createFixtures(api: Api): Promise<void> {
  const make = async (model: string, values: JsonObject) => (await create(api, model, values)).id as number
  const ann = await make('keeper', { name: 'Ann', age: 40 })
  const bob = await make('keeper', { name: 'Bob', age: 20, mentor: ann })
  await make('keeper', { name: 'Cy', mentor: bob })
  await create(api, 'enclosure', { code: 'C 1', title: 'Cats' })
  await make('animal', { name: 'Leo', weight: 190, keeper: ann, enclosure: 'C 1' })
  await make('animal', { name: 'Tom', weight: 4, keeper: bob, enclosure: 'C 1' })
  await make('animal', { name: 'Nemo' })
  await make('team', { title: 'Night', members: [ann, bob] })
  await make('team', { title: 'Empty' })
}

type Case = readonly [model: string, where: Json, found: readonly string[]]

const cases: readonly Case[] = [
  ['animal', { keeper: { name: 'Ann' } }, ['Leo']],
  ['animal', { keeper: { age: { '<': 30 } } }, ['Tom']],
  ['animal', { keeper: {} }, ['Leo', 'Tom']],
  ['animal', { not: { keeper: { name: 'Ann' } } }, ['Tom', 'Nemo']],
  ['animal', { not: { keeper: {} } }, ['Nemo']],
  ['animal', { keeper: { not: { name: 'Ann' } } }, ['Tom']],
  ['animal', { keeper: { mentor: { name: 'Ann' } } }, ['Tom']],
  ['animal', { keeper: { teams: { title: 'Night' } } }, ['Leo', 'Tom']],
  ['animal', { enclosure: { title: 'Cats' }, keeper: { name: 'Bob' } }, ['Tom']],
  ['animal', { or: [{ keeper: { name: 'Ann' } }, { name: 'Nemo' }] }, ['Leo', 'Nemo']],
  ['keeper', { animals: { name: 'Leo' } }, ['Ann']],
  ['keeper', { animals: {} }, ['Ann', 'Bob']],
  ['keeper', { not: { animals: {} } }, ['Cy']],
  ['keeper', { animals: { weight: { '>': 100 } } }, ['Ann']],
  ['keeper', { not: { animals: { weight: { '>': 100 } } } }, ['Bob', 'Cy']],
  ['keeper', { animals: { enclosure: { code: 'C 1' } } }, ['Ann', 'Bob']],
  ['keeper', { trainees: { name: 'Bob' } }, ['Ann']],
  ['keeper', { trainees: { trainees: { name: 'Cy' } } }, ['Ann']],
  ['keeper', { mentor: { mentor: { name: 'Ann' } } }, ['Cy']],
  ['keeper', { teams: { title: 'Night' } }, ['Ann', 'Bob']],
  ['keeper', { teams: { members: { name: 'Bob' } }, name: 'Ann' }, ['Ann']],
  ['keeper', { teams: { not: { title: 'Night' } } }, []],
  ['keeper', { not: { teams: { title: 'Night' } } }, ['Cy']],
  ['enclosure', { animals: { keeper: { name: 'Bob' } } }, ['C 1']],
  ['team', { members: { animals: { name: 'Leo' } } }, ['Night']],
  ['team', { not: { members: {} } }, ['Empty']],
]

const nameOf: Readonly<Record<string, string>> = { team: 'title', enclosure: 'code' }

/** Conditions and sorting through an association. */
export const related: readonly Scenario[] = [
  {
    name: 'related: a condition may be on associated records, also through several associations',
    async run(api) {
      await createFixtures(api)
      for (const [model, where, found] of cases) {
        const answer = await api.request('GET', address(`/${model}`, { where, populate: 'false' }))
        assert.deepEqual(column(answer, nameOf[model] ?? 'name'), found, JSON.stringify(where))
      }
    },
  },
  {
    name: 'related: a list is sorted by an attribute of the associated record; missing ones come first ascending',
    async run(api) {
      await createFixtures(api)
      for (const [sort, found] of [
        ['keeper.name', ['Nemo', 'Leo', 'Tom']],
        ['keeper.name DESC', ['Tom', 'Leo', 'Nemo']],
        ['keeper.age', ['Nemo', 'Tom', 'Leo']],
        ['enclosure.title DESC, keeper.age', ['Tom', 'Leo', 'Nemo']],
      ] as const) {
        assert.deepEqual(column(await api.request('GET', address('/animal', { sort })), 'name'), found, sort)
      }
    },
  },
  {
    name: 'related: an invalid condition on the associated record is refused',
    async run(api) {
      for (const where of [
        { keeper: { nosuch: 1 } },
        { keeper: { name: { gt: 1 } } },
        { feedings: { grams: 'x' } },
        { keeper: { mentor: { mentor: { nosuch: 1 } } } },
      ] as readonly Json[]) {
        refused(await api.request('GET', address('/animal', { where })), 'E_BAD_CRITERIA')
      }
      for (const sort of [
        'keeper.nosuch',
        'keeper.',
        '.name',
        'keeper.name.x',
        'feedings.grams',
        'keeper.mentor.name',
        'nosuch.name',
        'name.name',
      ]) {
        refused(await api.request('GET', address('/animal', { sort })), 'E_BAD_CRITERIA')
      }
      let where: Json = { name: 'x' }
      for (let level = 0; level < 20; level++) where = { mentor: where }
      refused(await api.request('GET', address('/keeper', { where })), 'E_BAD_CRITERIA', { limit: 'maxDepth' })
    },
  },
]
