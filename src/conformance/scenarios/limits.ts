import assert from 'node:assert/strict'
import type { Json } from '../../protocol/json.ts'
import { address, column, create, invalid, list, refused } from '../expect.ts'
import type { Api, Scenario } from '../scenario.ts'

const find = (api: Api, where: Json) => api.request('GET', address('/specimen', { where }))

/** `{}` within so many levels of `word`. */
function nested(word: 'and' | 'or' | 'not', levels: number, inner: Json): string {
  const [open, close] = word === 'not' ? ['{"not":', '}'] : [`{"${word}":[`, ']}']
  return open.repeat(levels) + JSON.stringify(inner) + close.repeat(levels)
}

/** There is an end to everything, it has a name, and it is told before any work is done. */
export const limits: readonly Scenario[] = [
  {
    name: 'limits: levels of a condition',
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
    name: 'limits: comparisons in a condition, however they are put together',
    async run(api) {
      await create(api, 'specimen', { legs: 3 })
      const of = (count: number) => Array.from({ length: count }, (_, legs) => ({ legs }))
      assert.equal(list(await find(api, { or: of(100) })).length, 1)
      refused(await find(api, { or: of(101) }), 'E_BAD_CRITERIA', { limit: 'maxConditions' })
      refused(await find(api, { or: [{ and: of(60) }, { not: { or: of(60) } }] }), 'E_BAD_CRITERIA', {
        limit: 'maxConditions',
      })
    },
  },
  {
    name: 'limits: values in a list',
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
    name: 'limits: attributes in an order',
    async run(api) {
      const names = ['label', 'weight', 'legs', 'serial', 'bornAt', 'token', 'createdAt', 'updatedAt', 'id']
      list(await api.request('GET', address('/specimen', { sort: names.slice(0, 8) })))
      refused(await api.request('GET', address('/specimen', { sort: names })), 'E_BAD_CRITERIA', {
        limit: 'maxSortKeys',
      })
    },
  },
  {
    name: 'limits: names in a query string',
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
    name: 'limits: bytes of an address',
    needs: ['bytes'],
    async run(api) {
      const padded = (bytes: number) => `/specimen?_=${'x'.repeat(bytes - '/specimen?_='.length)}`
      list(await api.request('GET', padded(16_384)))
      refused(await api.request('GET', padded(16_385)), 'E_URL_TOO_LONG', { limit: 'maxUrlBytes' })
    },
  },
  {
    name: 'limits: bytes of a value',
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
