import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { address, column, create, invalid, list, refused } from '../expect.ts'
import type { Api, Scenario } from '../scenario.ts'

const find = (api: Api, where: Json) => api.request('GET', address('/specimen', { where }))

/** A condition nested `levels` deep in `word`. */
function nested(word: 'and' | 'or' | 'not', levels: number, inner: Json): string {
  const [open, close] = word === 'not' ? ['{"not":', '}'] : [`{"${word}":[`, ']}']
  return open.repeat(levels) + JSON.stringify(inner) + close.repeat(levels)
}

/** Every limit has a name and is checked before any work is done. */
export const limits: readonly Scenario[] = [
  {
    name: 'limits: a condition nested deeper than maxDepth is refused',
    async run(api) {
      await create(api, 'specimen', { label: 'a' })
      for (const word of ['and', 'or', 'not'] as const) {
        list(await find(api, nested(word, 7, { label: 'a' })))
        for (const levels of [8, 100, 500])
          refused(await find(api, nested(word, levels, { label: 'a' })), 'E_BAD_CRITERIA', { limit: 'maxDepth' })
      }
    },
  },
  {
    name: 'limits: a condition that costs more than maxConditionCost is refused, however it is combined',
    async run(api) {
      await create(api, 'specimen', { legs: 3 })
      const of = (count: number) => Array.from({ length: count }, (_, legs) => ({ legs }))
      assert.equal(list(await find(api, { or: of(299) })).length, 1)
      const refusedFor = async (path: string, query: Readonly<Record<string, Json>>) =>
        refused(await api.request('GET', address(path, query)), 'E_BAD_CRITERIA', { limit: 'maxConditionCost' })
      const expensive: readonly Json[] = [
        { or: of(300) },
        { or: [{ and: of(150) }, { not: { or: of(150) } }] },
        { and: Array.from({ length: 300 }, () => ({})) },
        { or: Array.from({ length: 150 }, () => ({ not: { and: [] } })) },
        { or: Array.from({ length: 61 }, () => ({ label: { like: 'a%' } })) },
      ]
      for (const where of expensive) await refusedFor('/specimen', { where })
      await refusedFor('/keeper', { where: { or: Array.from({ length: 28 }, () => ({ not: { animals: {} } })) } })
    },
  },
  {
    name: 'limits: conditions, sort orders and populated associations share one cost',
    async run(api) {
      await create(api, 'keeper', { name: 'Ann' })
      const where = { or: Array.from({ length: 140 }, (_, age) => ({ age })) }
      const ask = (query: Readonly<Record<string, Json>>) => api.request('GET', address('/keeper', query))
      const of = (count: number) => Array.from({ length: count }, (_, weight) => ({ weight }))
      list(await ask({ where, populate: { animals: { where: { or: of(140) } } } }))
      const excessive: readonly Readonly<Record<string, Json>>[] = [
        { where, populate: { animals: { where: { or: of(160) } } } },
        {
          where,
          populate: {
            animals: { where: { or: of(140) }, populate: { keeper: { where: { mentor: { age: 1 } } }, enclosure: {} } },
          },
        },
        {
          where,
          sort: ['name', 'mentor.name', 'mentor.age', 'mentor.role'],
          populate: { animals: { where: { or: of(140) } } },
        },
      ]
      for (const query of excessive) refused(await ask(query), 'E_BAD_CRITERIA', { limit: 'maxConditionCost' })
    },
  },
  {
    name: 'limits: a list of more than maxListItems values is refused',
    async run(api) {
      await create(api, 'specimen', { legs: 499 })
      const of = (count: number) => Array.from({ length: count }, (_, legs) => legs)
      for (const word of ['in', 'nin', '!=']) {
        list(await find(api, { legs: { [word]: of(500) } }))
        refused(await find(api, { legs: { [word]: of(501) } }), 'E_BAD_CRITERIA', {
          limit: 'maxListItems',
          attribute: 'legs',
        })
      }
      assert.equal(list(await find(api, { legs: of(500) })).length, 1)
      refused(await find(api, { legs: of(501) }), 'E_BAD_CRITERIA', { limit: 'maxListItems' })
      refused(await find(api, of(501)), 'E_BAD_CRITERIA', { limit: 'maxListItems' })
    },
  },
  {
    name: 'limits: more than maxSortKeys sort attributes are refused',
    async run(api) {
      const names = ['label', 'weight', 'legs', 'serial', 'bornAt', 'token', 'createdAt', 'updatedAt', 'id']
      list(await api.request('GET', address('/specimen', { sort: names.slice(0, 8) })))
      refused(await api.request('GET', address('/specimen', { sort: names })), 'E_BAD_CRITERIA', {
        limit: 'maxSortKeys',
      })
    },
  },
  {
    name: 'limits: they apply to criteria that are texts in a body, at any level',
    needs: ['anyRequest'],
    async run(api) {
      const names = (count: number) => Array.from({ length: count }, (_, index) => `a${index}`)
      const object = JSON.stringify(Object.fromEntries(names(20_000).map((name) => [name, 1])))
      const deep = '['.repeat(50_000) + ']'.repeat(50_000)
      const ask = (body: JsonObject) => api.request('GET', '/keeper', { body })
      for (const nested of [object, deep]) {
        const bodies: readonly JsonObject[] = [
          { where: nested },
          { where: { or: nested } },
          { where: { like: nested } },
          { or: nested },
          { sort: nested },
          { populate: { animals: { where: nested } } },
        ]
        for (const body of bodies) {
          const { limit } = refused(await ask(body), 'E_BAD_BODY')
          assert.ok(limit === 'maxJsonNames' || limit === 'maxJsonDepth', String(limit))
        }
      }
      refused(await ask({ populate: object }), 'E_BAD_BODY', { limit: 'maxJsonNames' })
      for (const given of [names(1001), names(50_000).join()]) {
        const bodies: readonly JsonObject[] = [
          { select: given },
          { omit: given },
          { populate: given },
          { populate: { animals: { select: given } } },
        ]
        for (const body of bodies) refused(await ask(body), 'E_BAD_CRITERIA', { limit: 'maxParameters' })
      }
      for (const sort of [Array(9).fill('name'), 'name,'.repeat(100_000)])
        refused(await ask({ sort }), 'E_BAD_CRITERIA', { limit: 'maxSortKeys' })
    },
  },
  {
    name: 'limits: a query string with too many names, or names that are too deep, is refused',
    async run(api) {
      refused(await api.request('GET', `/specimen?${'_=1&'.repeat(1000)}_=1`), 'E_BAD_REQUEST', {
        limit: 'maxParameters',
      })
      refused(await api.request('GET', `/specimen?${'&'.repeat(2000)}`), 'E_BAD_REQUEST', { limit: 'maxParameters' })
      refused(await api.request('GET', '/specimen?legs[999999999]=1'), 'E_BAD_REQUEST', { limit: 'maxParameters' })
      refused(await api.request('GET', `/specimen?label${'[a]'.repeat(9)}=1`), 'E_BAD_REQUEST', {
        limit: 'maxParameterDepth',
      })
    },
  },
  {
    name: 'limits: an address of more than maxUrlBytes is refused',
    needs: ['bytes'],
    async run(api) {
      const padded = (bytes: number) => `/specimen?_=${'x'.repeat(bytes - '/specimen?_='.length)}`
      list(await api.request('GET', padded(16_384)))
      refused(await api.request('GET', padded(16_385)), 'E_URL_TOO_LONG', { limit: 'maxUrlBytes' })
    },
  },
  {
    name: 'limits: a value of more than maxValueBytes is refused',
    settings: { limits: { maxValueBytes: 64 } },
    async run(api) {
      await create(api, 'specimen', { label: 'a'.repeat(64), notes: ['a'.repeat(60)] })
      await create(api, 'specimen', { label: '🦁'.repeat(16) })
      const long = { label: '🦁'.repeat(17), notes: ['a'.repeat(61)] }
      invalid(await api.request('POST', '/specimen', { body: long }), {
        label: ['maxValueBytes'],
        notes: ['maxValueBytes'],
      })
      assert.equal(column(await api.request('GET', '/specimen'), 'label').length, 2)
    },
  },
]
