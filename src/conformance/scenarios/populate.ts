import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { address, create, list, record, refused } from '../expect.ts'
import type { Api, Scenario } from '../scenario.ts'

async function createFixtures(api: Api) {
  const ann = (await create(api, 'keeper', { name: 'Ann' })).id as number
  const bob = (await create(api, 'keeper', { name: 'Bob', mentor: ann })).id as number
  await create(api, 'enclosure', { code: 'C 1' })
  for (const name of ['Leo', 'Tom', 'Rex']) await create(api, 'animal', { name, keeper: ann, enclosure: 'C 1' })
  await create(api, 'animal', { name: 'Nemo', keeper: bob })
  const night = (await create(api, 'team', { title: 'Night', members: [ann, bob] })).id as number
  return { ann, bob, night }
}

const toMany = ['trainees', 'animals', 'teams', 'favourites', 'posts']
const names = (members: Json | undefined, name = 'name') =>
  (members as readonly JsonObject[]).map((member) => member[name])

/** Associated records embedded in an answer. */
export const populate: readonly Scenario[] = [
  {
    name: 'populate: every association by default, without nested associations',
    async run(api) {
      const { ann, bob } = await createFixtures(api)
      const asked = [
        record(await api.request('GET', `/keeper/${bob}`)),
        list(await api.request('GET', '/keeper?name=Bob'))[0] as JsonObject,
        record(await api.request('PATCH', `/keeper/${bob}`, { body: {} })),
        record(await api.request('PUT', `/keeper/${bob}`, { body: { name: 'Bob' } })),
      ]
      for (const found of asked) {
        assert.deepEqual([names(found.animals), names(found.teams, 'title'), found.trainees], [['Nemo'], ['Night'], []])
        const mentor = found.mentor as JsonObject
        assert.equal(mentor.name, 'Ann')
        for (const name of toMany) assert.ok(!(name in mentor), 'to-many associations of a member are not there')
        const [nemo] = found.animals as readonly JsonObject[]
        assert.equal(nemo?.keeper, bob, 'to-one associations of a member are ids')
      }
      assert.equal(record(await api.request('GET', `/keeper/${ann}`)).mentor, null)
    },
  },
  {
    name: 'populate: applies to the answers of create and destroy',
    async run(api) {
      const { ann } = await createFixtures(api)
      const made = record(await api.request('POST', '/animal', { body: { name: 'New', keeper: ann } }), 201)
      assert.equal((made.keeper as JsonObject).name, 'Ann')
      assert.deepEqual(made.feedings, [])
      const gone = record(await api.request('DELETE', `/keeper/${ann}`))
      assert.deepEqual(names(gone.animals), ['Leo', 'Tom', 'Rex', 'New'])
      assert.deepEqual(names(gone.trainees), ['Bob'])
    },
  },
  {
    name: 'populate: false embeds nothing, and a list only the associations that it names',
    async run(api) {
      const { ann, bob } = await createFixtures(api)
      const ask = async (query: string) => record(await api.request('GET', `/keeper/${bob}?${query}`))
      const plain = await ask('populate=false')
      assert.equal(plain.mentor, ann)
      for (const name of toMany) assert.ok(!(name in plain))
      const some = await ask('populate=animals,%20mentor')
      assert.deepEqual(
        [names(some.animals), (some.mentor as JsonObject).name, 'teams' in some],
        [['Nemo'], 'Ann', false],
      )
      const one = await ask('populate[]=teams')
      assert.deepEqual([names(one.teams, 'title'), one.mentor], [['Night'], ann])
      assert.deepEqual(Object.keys(await ask('populate=')).sort(), Object.keys(await ask('')).sort())
    },
  },
  {
    name: 'populate: a limit applies to each parent separately',
    settings: { limits: { defaultLimit: 2 } },
    async run(api) {
      await createFixtures(api)
      const found = list(await api.request('GET', '/keeper'))
      assert.deepEqual(
        found.map((keeper) => names(keeper.animals)),
        [['Leo', 'Tom'], ['Nemo']],
      )
      const explicit = list(await api.request('GET', '/keeper?populate=animals'))
      assert.deepEqual(
        explicit.map((keeper) => names(keeper.animals)),
        [['Leo', 'Tom'], ['Nemo']],
      )
    },
  },
  {
    name: 'populate: an association may have its own condition, sort and page, and nested associations',
    async run(api) {
      const { ann } = await createFixtures(api)
      const ask = async (populate: Json) => record(await api.request('GET', address(`/keeper/${ann}`, { populate })))
      const cases = [
        [{ limit: 2 }, ['Leo', 'Tom']],
        [{ limit: 1, skip: 1 }, ['Tom']],
        [{ sort: 'name DESC' }, ['Tom', 'Rex', 'Leo']],
        [{ where: { name: { contains: 'e' } } }, ['Leo', 'Rex']],
        [{ where: { name: { '!=': 'Leo' } }, sort: 'name', limit: 1 }, ['Rex']],
        [{ limit: 0 }, []],
      ] as const
      for (const [options, expected] of cases) {
        assert.deepEqual(names((await ask({ animals: options })).animals), expected, JSON.stringify(options))
      }
      const selected = await ask({ animals: { select: ['name'], limit: 1 } })
      assert.deepEqual(Object.keys((selected.animals as readonly JsonObject[])[0] ?? {}), ['id', 'name'])
      const deep = await ask({ animals: { populate: { enclosure: { populate: 'animals' } } } })
      const [leo] = deep.animals as readonly JsonObject[]
      assert.deepEqual(names((leo as { enclosure: JsonObject }).enclosure.animals), ['Leo', 'Tom', 'Rex'])
    },
  },
  {
    name: 'populate: can be combined with select and omit',
    async run(api) {
      const { bob } = await createFixtures(api)
      const selected = record(await api.request('GET', `/keeper/${bob}?select=name&populate=animals`))
      assert.deepEqual(Object.keys(selected).sort(), ['animals', 'id', 'name'])
      const omitted = record(await api.request('GET', `/keeper/${bob}?omit=animals,teams,age`))
      assert.deepEqual(
        ['animals', 'teams', 'age', 'trainees', 'name'].map((name) => name in omitted),
        [false, false, false, true, true],
      )
      const joined = record(await api.request('GET', `/keeper/${bob}?select=name&populate=mentor`))
      assert.equal((joined.mentor as JsonObject).name, 'Ann')
    },
  },
  {
    name: 'populate: an unknown association or option is refused',
    async run(api) {
      const { ann } = await createFixtures(api)
      const wrong: readonly Json[] = [
        'nosuch',
        'name',
        'animals,',
        'true',
        '*',
        '0',
        'animals.enclosure',
        '[animals]',
        '{"animals":{"limit":-1}}',
        { animals: { nosuch: 1 } },
        { animals: { where: { nosuch: 1 } } },
        { animals: { where: '{' } },
        { animals: { sort: 'nosuch' } },
        { animals: { select: 'nosuch' } },
        { animals: { limit: 1001 } },
        { animals: { populate: { keeper: { populate: { animals: { populate: 'keeper' } } } } } },
        { animals: 5 },
        ['__proto__'],
        ['constructor'],
        ['toString'],
      ]
      for (const populate of wrong) {
        for (const path of ['/keeper', `/keeper/${ann}`])
          refused(await api.request('GET', address(path, { populate })), 'E_BAD_CRITERIA')
      }
    },
  },
  {
    name: 'populate: the records that are found are counted, not the largest possible number',
    settings: { limits: { maxPopulated: 3 } },
    async run(api) {
      const keepers = [await create(api, 'keeper', { name: 'Ann' }), await create(api, 'keeper', { name: 'Bob' })]
      for (const [index, keeper] of [0, 0, 1].entries()) {
        await create(api, 'animal', { name: `a${index}`, keeper: keepers[keeper]?.id as number })
      }
      const query = { populate: { animals: { limit: 1000 } } }
      const found = list(await api.request('GET', address('/keeper', { ...query, limit: '1000' })))
      assert.deepEqual(
        found.map(({ animals }) => (animals as readonly Json[]).length),
        [2, 1],
      )
      await create(api, 'animal', { name: 'a3', keeper: keepers[1]?.id as number })
      const { detail } = refused(await api.request('GET', address('/keeper', query)), 'E_BAD_CRITERIA', {
        limit: 'maxPopulated',
      })
      assert.match(detail as string, /more than 3 records of the association "animals" \(maxPopulated\)/)
    },
  },
]
