import assert from 'node:assert/strict'
import { column, create, list, refused } from '../expect.ts'
import type { Api, Scenario } from '../scenario.ts'

async function fill(api: Api, count: number): Promise<void> {
  for (let legs = 0; legs < count; legs++) await create(api, 'specimen', { legs })
}

const legs = async (api: Api, query: string) => column(await api.request('GET', `/specimen?${query}`), 'legs')

/** `limit` and `skip`. */
export const paging: readonly Scenario[] = [
  {
    name: 'paging: the default limit is 30',
    async run(api) {
      await fill(api, 31)
      assert.equal((await legs(api, '')).length, 30)
      assert.deepEqual(await legs(api, 'skip=30'), [30])
      assert.equal((await legs(api, 'limit=1000')).length, 31)
      assert.equal(list(await api.request('GET', '/specimen/find')).length, 30)
    },
  },
  {
    name: 'paging: applies after the filter and the sort',
    async run(api) {
      await fill(api, 9)
      const cases = [
        ['limit=3', [0, 1, 2]],
        ['limit=0', []],
        ['limit=2&skip=3', [3, 4]],
        ['limit=2&skip=8', [8]],
        ['skip=9', []],
        ['skip=1000000', []],
        ['limit=1e0&skip=1e0', [1]],
        ['limit=03', [0, 1, 2]],
        ['limit=2&skip=1&sort=legs%20DESC', [7, 6]],
        ['limit=2&skip=1&legs[>]=4', [6, 7]],
        ['limit=2&where={"legs":{"<":2}}&skip=0', [0, 1]],
      ] as const
      for (const [query, expected] of cases) assert.deepEqual(await legs(api, query), expected, query)
    },
  },
  {
    name: 'paging: an invalid limit or skip is refused',
    async run(api) {
      const wrong = [
        '-1',
        'abc',
        '',
        '1.5',
        'Infinity',
        'NaN',
        'null',
        '%203',
        'true',
        '9007199254740993',
        '1e300',
        '[]',
        '{}',
      ]
      for (const name of ['limit', 'skip']) {
        for (const text of wrong) refused(await api.request('GET', `/specimen?${name}=${text}`), 'E_BAD_CRITERIA')
        refused(await api.request('GET', `/specimen?${name}=1&${name}=2`), 'E_BAD_CRITERIA')
        refused(await api.request('GET', `/specimen?${name}[>]=1`), 'E_BAD_CRITERIA')
      }
    },
  },
  {
    name: 'paging: a limit above maxLimit is refused, not reduced',
    async run(api) {
      refused(await api.request('GET', '/specimen?limit=1001'), 'E_BAD_CRITERIA', { limit: 'maxLimit' })
      refused(await api.request('GET', '/specimen?skip=1000001'), 'E_BAD_CRITERIA', { limit: 'maxSkip' })
      list(await api.request('GET', '/specimen?limit=1000&skip=1000000'))
    },
  },
  {
    name: 'paging: the limits are configurable',
    settings: { limits: { defaultLimit: 2, maxLimit: 3, maxSkip: 4 } },
    async run(api) {
      await fill(api, 5)
      assert.deepEqual(await legs(api, ''), [0, 1])
      assert.deepEqual(await legs(api, 'limit=3&skip=4'), [4])
      refused(await api.request('GET', '/specimen?limit=4'), 'E_BAD_CRITERIA', { limit: 'maxLimit' })
      refused(await api.request('GET', '/specimen?skip=5'), 'E_BAD_CRITERIA', { limit: 'maxSkip' })
    },
  },
]
