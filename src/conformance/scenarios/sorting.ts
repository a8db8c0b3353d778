import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { address, column, create, refused } from '../expect.ts'
import type { Api, Scenario } from '../scenario.ts'

async function createFixtures(api: Api): Promise<void> {
  const rows: readonly JsonObject[] = [
    { label: 'a', legs: 2, weight: 1 },
    { label: 'b', legs: 4 },
    { label: 'c', legs: 2, weight: 3 },
    { label: 'd', weight: 1 },
    { label: 'e', legs: 4, weight: 1 },
  ]
  for (const row of rows) await create(api, 'specimen', row)
}

const sorted = async (api: Api, sort: Json, name = 'label') =>
  column(await api.request('GET', address('/specimen', { sort, limit: '100' })), name)

/** Sorting: each notation, and a total order in every case. */
export const sorting: readonly Scenario[] = [
  {
    name: 'sort: each notation',
    async run(api) {
      await createFixtures(api)
      const down = ['e', 'd', 'c', 'b', 'a']
      const byLegs = ['b', 'e', 'a', 'c', 'd']
      const byBoth = ['b', 'e', 'a', 'c', 'd']
      const cases: readonly (readonly [Json, readonly string[]])[] = [
        ['label', ['a', 'b', 'c', 'd', 'e']],
        ['label ASC', ['a', 'b', 'c', 'd', 'e']],
        ['label DESC', down],
        ['label desc', down],
        ['  label   Desc ', down],
        [['label DESC'], down],
        [[{ label: 'DESC' }], down],
        [[{ label: 'desc' }], down],
        [{ label: -1 }, down],
        [{ label: 'DESC' }, down],
        ['legs DESC', byLegs],
        [{ legs: -1, weight: 1 }, byBoth],
        ['legs DESC, weight', byBoth],
        ['legs DESC,weight ASC', byBoth],
        [['legs DESC', 'weight'], byBoth],
        [[{ legs: 'DESC' }, 'weight ASC'], byBoth],
        [
          ['legs', 'weight desc'],
          ['d', 'c', 'a', 'e', 'b'],
        ],
        ['id DESC', down],
        [[], ['a', 'b', 'c', 'd', 'e']],
        [{}, ['a', 'b', 'c', 'd', 'e']],
      ]
      for (const [sort, labels] of cases) assert.deepEqual(await sorted(api, sort), labels, JSON.stringify(sort))
    },
  },
  {
    name: 'sort: by primary key by default, independent of updates',
    async run(api) {
      await createFixtures(api)
      const [{ id } = {}] = (await api.request('GET', '/specimen?label=a')).body as readonly { id?: number }[]
      await api.request('PATCH', `/specimen/${id}`, { body: { weight: 100 } })
      assert.deepEqual(column(await api.request('GET', '/specimen'), 'label'), ['a', 'b', 'c', 'd', 'e'])
    },
  },
  {
    name: 'sort: nulls come first ascending and last descending; the primary key breaks ties',
    async run(api) {
      await createFixtures(api)
      assert.deepEqual(await sorted(api, 'legs'), ['d', 'a', 'c', 'b', 'e'])
      assert.deepEqual(await sorted(api, 'legs DESC'), ['b', 'e', 'a', 'c', 'd'])
      assert.deepEqual(await sorted(api, 'weight'), ['b', 'a', 'd', 'e', 'c'])
      assert.deepEqual(await sorted(api, 'weight DESC, id DESC'), ['c', 'e', 'd', 'a', 'b'])
    },
  },
  {
    name: 'sort: consecutive pages form the whole list',
    async run(api) {
      for (let index = 0; index < 12; index++)
        await create(api, 'specimen', { label: String(index), ...(index % 3 > 0 && { legs: index % 2 }) })
      const whole = await sorted(api, 'legs DESC')
      const pages: unknown[] = []
      for (let skip = 0; skip < 12; skip += 5) {
        pages.push(...column(await api.request('GET', `/specimen?sort=legs%20DESC&limit=5&skip=${skip}`), 'label'))
      }
      assert.deepEqual(pages, whole)
    },
  },
  {
    name: 'sort: strings by code point, upper case before lower case',
    async run(api) {
      const ordered = [
        '',
        ' ',
        'A',
        'B',
        'Z',
        '_',
        'a',
        'aa',
        'b',
        'e\u0301',
        'é',
        '\ud7ff',
        '\ue000',
        '\uffff',
        '\u{10000}',
        '🦁',
        '\u{10ffff}',
      ]
      for (const label of [...ordered].reverse()) await create(api, 'specimen', { label })
      assert.deepEqual(await sorted(api, 'label'), ordered)
      assert.deepEqual(await sorted(api, 'label DESC'), [...ordered].reverse())
    },
  },
  {
    name: 'sort: numbers by value, times by instant, false before true',
    async run(api) {
      const orders: Readonly<Record<string, readonly Json[]>> = {
        weight: [
          -1.7976931348623157e308, -1, -5e-324, 0, 5e-324, 0.1, 0.30000000000000004, 1, 9007199254740992,
          1.7976931348623157e308,
        ],
        alive: [false, true],
        legs: [-9007199254740991, -10, -9, 0, 9, 10, 9007199254740991],
        serial: [
          '-9223372036854775808',
          '-10',
          '-9',
          '0',
          '9',
          '10',
          '9007199254740992',
          '9007199254740993',
          '9223372036854775807',
        ],
        bornAt: [
          '0001-01-01T00:00:00.000Z',
          '1969-12-31T23:59:59.999Z',
          '1970-01-01T00:00:00.000Z',
          '2026-11-21T03:00:00.001Z',
          '9999-12-31T23:59:59.999Z',
        ],
        token: [
          '00000000-0000-0000-0000-000000000000',
          '0fffffff-0000-0000-0000-000000000000',
          'a0000000-0000-0000-0000-000000000000',
        ],
      }
      for (const [name, ordered] of Object.entries(orders)) {
        for (const value of [...ordered].reverse()) await create(api, 'specimen', { [name]: value })
        const where = { [name]: { '!=': null } }
        for (const [sort, expected] of [
          [name, ordered],
          [`${name} DESC`, [...ordered].reverse()],
        ] as const) {
          assert.deepEqual(
            column(await api.request('GET', address('/specimen', { where, sort })), name),
            expected,
            sort,
          )
        }
      }
    },
  },
  {
    name: 'sort: the refusal of the notation of another system has the one to write',
    async run(api) {
      for (const [sort, written] of [
        ['-label', 'label DESC'],
        ['legs,-label', 'label DESC'],
        ['label:desc', 'label DESC'],
        ['label.ASC', 'label ASC'],
      ] as const) {
        const { detail } = refused(await api.request('GET', address('/specimen', { sort })), 'E_BAD_CRITERIA')
        assert.equal(detail, `"sort" is written "${written}"`)
      }
      // What is hidden is unknown.
      const { detail } = refused(await api.request('GET', address('/keeper', { sort: '-pin' })), 'E_BAD_CRITERIA')
      assert.match(detail as string, /no attribute "-pin"/)
    },
  },
  {
    name: 'sort: an invalid sort is refused',
    async run(api) {
      const wrong: readonly Json[] = [
        'nosuch',
        'nosuch ASC',
        'Label',
        'label UP',
        'label ASC DESC',
        'label:desc',
        '-label',
        '',
        ' ',
        ',',
        'label,',
        'label,,legs',
        'label, label DESC',
        'null',
        '{bad',
        '[bad',
        5,
        true,
        [5],
        [[]],
        [['label', 'DESC']],
        [{ label: 'ASC', legs: 'ASC' }],
        [{}],
        { label: 2 },
        { label: 'UP' },
        { label: null },
        { label: true },
        { nosuch: 1 },
        [{ label: 'ASC' }, { label: 'DESC' }],
        'notes',
        'photo DESC',
      ]
      for (const sort of wrong) refused(await api.request('GET', address('/specimen', { sort })), 'E_BAD_CRITERIA')
      refused(await api.request('GET', '/specimen?sort=label&sort=label'), 'E_BAD_CRITERIA')
      refused(await api.request('GET', '/keeper?sort=animals'), 'E_BAD_CRITERIA', { attribute: 'animals' })
    },
  },
]
