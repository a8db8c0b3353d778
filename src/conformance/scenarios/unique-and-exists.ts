import assert from 'node:assert/strict'
import type { JsonObject } from '../../protocol/json.ts'
import { column, create, invalid, list, nothingStored, record, stored } from '../expect.ts'
import type { Scenario } from '../scenario.ts'

/** Rules that need the database: `unique` and `exists`. */
export const uniqueAndExists: readonly Scenario[] = [
  {
    name: 'unique: create and update refuse a value that exists already and change nothing',
    async run(api) {
      const ann = await create(api, 'keeper', { name: 'Ann', email: 'ann@zoo.test' })
      const bob = await create(api, 'keeper', { name: 'Bob', email: 'bob@zoo.test' })
      invalid(await api.request('POST', '/keeper', { body: { name: 'Cy', email: 'ann@zoo.test' } }), {
        email: ['unique'],
      })
      invalid(await api.request('GET', '/keeper/create?name=Cy&email=ann%40zoo.test'), { email: ['unique'] })
      const taken = { name: 'Rob', email: 'ann@zoo.test' }
      invalid(await api.request('PATCH', `/keeper/${bob.id}`, { body: taken }), { email: ['unique'] })
      invalid(await api.request('GET', `/keeper/update/${bob.id}?email=ann%40zoo.test`), { email: ['unique'] })
      assert.deepEqual(list(await api.request('GET', '/keeper?populate=false')), [ann, bob])
    },
  },
  {
    name: 'unique: in a list, the item with a value that exists already is named, whether it exists in the database or the list',
    async run(api) {
      await create(api, 'team', { title: 'Night' })
      for (const [title, index] of [
        ['Night', 2],
        ['Day', 150],
      ] as const) {
        const items = Array.from({ length: 151 }, (_, item) => ({ title: item === 0 ? 'Day' : `${item}` }))
        items[index] = { title }
        invalid(await api.request('POST', '/team', { body: items }), { [`${index}.title`]: ['unique'] })
      }
      const members = [
        { name: 'Ann', email: 'a@zoo.test' },
        { name: 'Bob', email: 'a@zoo.test' },
      ]
      invalid(await api.request('POST', '/team', { body: [{ title: 'Day' }, { title: 'Dusk', members }] }), {
        email: ['unique'],
      })
      assert.equal(list(await api.request('GET', '/team?populate=false')).length, 1)
    },
  },
  {
    name: 'unique: the problem document names the attribute and reveals nothing about the other record',
    async run(api) {
      await create(api, 'team', { title: 'Night' })
      const answer = await api.request('POST', '/team', { body: { title: 'Night' } })
      const { title } = invalid(answer, { title: ['unique'] })
      assert.equal(title?.length, 1)
      assert.doesNotMatch(answer.text, /Night/)
    },
  },
  {
    name: 'unique: a record may keep its own value, and a value that was given up can be used again',
    async run(api) {
      const ann = await create(api, 'keeper', { name: 'Ann', email: 'ann@zoo.test' })
      record(await api.request('PUT', `/keeper/${ann.id}`, { body: { email: 'ann@zoo.test', age: 40 } }))
      record(await api.request('PUT', `/keeper/${ann.id}`, { body: { email: 'new@zoo.test' } }))
      const bob = await create(api, 'keeper', { name: 'Bob', email: 'ann@zoo.test' })
      record(await api.request('DELETE', `/keeper/${bob.id}`))
      await create(api, 'keeper', { name: 'Cy', email: 'ann@zoo.test' })
    },
  },
  {
    name: 'unique: null is never a duplicate; comparison is exact, including letter case and trailing characters',
    async run(api) {
      for (const body of [{ name: 'Ann' }, { name: 'Bob' }, { name: 'Cy', email: null }] as readonly JsonObject[]) {
        await create(api, 'keeper', body)
      }
      const titles = ['night', 'Night', 'night ', ' night', 'nïght', 'ni\u0308ght', 'ｎight']
      for (const title of titles) await create(api, 'team', { title })
      assert.equal(list(await api.request('GET', '/team?populate=false')).length, titles.length)
    },
  },
  {
    name: 'unique: a unique index on several attributes names each of them',
    async run(api) {
      const visit = { day: 'Monday', slot: 1 }
      const first = await create(api, 'visit', visit)
      const second = await create(api, 'visit', { day: 'Monday', slot: 2 })
      const both = { day: ['unique'], slot: ['unique'] }
      invalid(await api.request('POST', '/visit', { body: visit }), both)
      invalid(await api.request('PATCH', `/visit/${second.id}`, { body: { slot: 1 } }), both)
      assert.deepEqual(list(await api.request('GET', '/visit?populate=false')), [first, second])
    },
  },
  {
    name: 'unique: a unique to-one refuses a second reference to a record, and any number may be null',
    async run(api) {
      const holder = (await create(api, 'keeper', { name: 'Ann' })).id as number
      await create(api, 'ticket', { seat: '1', holder })
      invalid(await api.request('POST', '/ticket', { body: { seat: '2', holder } }), { holder: ['unique'] })
      await create(api, 'ticket', { seat: '3' })
      await create(api, 'ticket', { seat: '4' })
    },
  },
  {
    name: 'unique: exactly one of several simultaneous creates succeeds',
    async run(api) {
      const asked = Array.from({ length: 10 }, () => api.request('POST', '/team', { body: { title: 'Night' } }))
      const answers = await Promise.all(asked)
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(9).fill(400)])
      for (const answer of answers) if (answer.status === 400) invalid(answer, { title: ['unique'] })
      assert.equal(list(await api.request('GET', '/team?populate=false')).length, 1)
    },
  },
  {
    name: 'exists: a to-one must refer to an existing record, for every type of key',
    async run(api) {
      const animal = (await create(api, 'animal', { name: 'Leo' })).id as number
      const cases: readonly (readonly [model: string, body: JsonObject, name: string])[] = [
        ['animal', { name: 'Tom', keeper: 999999 }, 'keeper'],
        ['animal', { name: 'Tom', keeper: '999999' }, 'keeper'],
        ['animal', { name: 'Tom', enclosure: 'nowhere' }, 'enclosure'],
        ['animal', { name: 'Tom', enclosure: '' }, 'enclosure'],
        ['feeding', { grams: 1, animal: 999999 }, 'animal'],
        ['ticket', { holder: 0 }, 'holder'],
        ['keeper', { name: 'Ann', mentor: 999999 }, 'mentor'],
      ]
      for (const [model, body, name] of cases) {
        invalid(await api.request('POST', `/${model}`, { body }), { [name]: ['exists'] })
      }
      invalid(await api.request('PATCH', `/animal/${animal}`, { body: { keeper: 999999 } }), { keeper: ['exists'] })
      invalid(await api.request('GET', `/animal/update/${animal}?enclosure=nowhere`), { enclosure: ['exists'] })
      assert.equal((await stored(api, 'animal', animal)).keeper, null)
      for (const model of ['feeding', 'ticket', 'keeper']) await nothingStored(api, model)
    },
  },
  {
    name: 'exists: every missing record is named',
    async run(api) {
      const answer = await api.request('POST', '/animal', {
        body: { name: 'Tom', keeper: 999999, enclosure: 'nowhere' },
      })
      invalid(answer, { keeper: ['exists'], enclosure: ['exists'] })
    },
  },
  {
    name: 'exists: a record may refer to itself once it exists',
    async run(api) {
      const { id } = await create(api, 'keeper', { name: 'Ann' })
      const answer = await api.request('PATCH', `/keeper/${id}?populate=false`, { body: { mentor: id as number } })
      assert.equal(record(answer).mentor, id)
      assert.deepEqual(column(await api.request('GET', `/keeper?populate=false&mentor=${id}`), 'id'), [id])
    },
  },
]
