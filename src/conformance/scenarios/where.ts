import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { address, column, create, refused } from '../expect.ts'
import type { Api, Scenario } from '../scenario.ts'

const ann = {
  label: 'ann',
  legs: 4,
  weight: 2.5,
  alive: true,
  serial: '9',
  bornAt: '2026-01-01',
  token: '0190163d-8694-739b-aea5-966c26f8ad90',
}
const bob = { label: 'bob', legs: 2, weight: 10, alive: false, serial: '10', bornAt: '2025-06-01T12:00:00Z', notes: {} }
const cy = {
  label: 'cy',
  legs: 2,
  weight: -1,
  alive: true,
  serial: '-9223372036854775808',
  token: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
}
const nil = {}

async function createFixtures(api: Api): Promise<void> {
  for (const values of [ann, bob, cy, nil]) await create(api, 'specimen', values)
}

const find = (api: Api, where: Json) => api.request('GET', address('/specimen', { where }))

type Case = readonly [where: Json, labels: readonly (string | null)[]]

const table = (name: string, cases: readonly Case[]): Scenario => ({
  name: `where: ${name}`,
  async run(api) {
    await createFixtures(api)
    for (const [where, labels] of cases) {
      assert.deepEqual(column(await find(api, where), 'label'), labels, JSON.stringify(where))
    }
  },
})

/** Conditions: each modifier under each of its names, lists, null, and combinations. */
export const where: readonly Scenario[] = [
  table('equality, and several attributes combined by and', [
    [{}, ['ann', 'bob', 'cy', null]],
    [{ label: 'ann' }, ['ann']],
    [{ label: 'Ann' }, []],
    [{ legs: 2 }, ['bob', 'cy']],
    [{ legs: 2, alive: true }, ['cy']],
    [{ alive: false }, ['bob']],
    [{ serial: '10' }, ['bob']],
    [{ weight: 2.5 }, ['ann']],
    [{ bornAt: '2025-06-01T14:00+02:00' }, ['bob']],
    [{ token: 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF' }, ['cy']],
  ]),
  table('ordering modifiers, under each of their names', [
    [{ legs: { '<': 4 } }, ['bob', 'cy']],
    [{ legs: { lessThan: 4 } }, ['bob', 'cy']],
    [{ legs: { '<=': 4 } }, ['ann', 'bob', 'cy']],
    [{ legs: { lessThanOrEqual: 2 } }, ['bob', 'cy']],
    [{ legs: { '>': 2 } }, ['ann']],
    [{ legs: { greaterThan: 2 } }, ['ann']],
    [{ legs: { '>=': 2 } }, ['ann', 'bob', 'cy']],
    [{ legs: { greaterThanOrEqual: 4 } }, ['ann']],
    [{ weight: { '>': -2, '<': 3 } }, ['ann', 'cy']],
    [{ label: { '>': 'ann', '<=': 'cy' } }, ['bob', 'cy']],
    // Compared as numbers, not as strings: '9' precedes '10'.
    [{ serial: { '<': '10' } }, ['ann', 'cy']],
    [{ serial: { '>=': '-9223372036854775808' } }, ['ann', 'bob', 'cy']],
    [{ bornAt: { '<': '2026-01-01' } }, ['bob']],
    [{ bornAt: { '>=': '2026-01-01T00:00:00+00:00' } }, ['ann']],
    [{ token: { '>': '0190163d-8694-739b-aea5-966c26f8ad90' } }, ['cy']],
  ]),
  table('inequality, under each of its names', [
    [{ label: { '!=': 'ann' } }, ['bob', 'cy']],
    [{ label: { '!': 'ann' } }, ['bob', 'cy']],
    [{ label: { not: 'ann' } }, ['bob', 'cy']],
    [{ legs: { '!=': 2 } }, ['ann']],
    [{ alive: { '!=': true } }, ['bob']],
    [{ serial: { '!': '9' } }, ['bob', 'cy']],
  ]),
  table('lists', [
    [{ label: ['ann', 'cy', 'nobody'] }, ['ann', 'cy']],
    [{ label: { in: ['cy', 'ann', 'ann'] } }, ['ann', 'cy']],
    [{ legs: [2] }, ['bob', 'cy']],
    [{ serial: ['10', '-9223372036854775808'] }, ['bob', 'cy']],
    [{ weight: { in: [2.5, -1] } }, ['ann', 'cy']],
    [{ alive: [true] }, ['ann', 'cy']],
    [{ bornAt: ['2026-01-01'] }, ['ann']],
    [{ label: { nin: ['ann'] } }, ['bob', 'cy']],
    [{ label: { '!=': ['ann', 'bob'] } }, ['cy']],
    [{ label: { '!': ['ann', 'bob'] } }, ['cy']],
    [{ label: { not: ['ann', 'bob'] } }, ['cy']],
    [{ serial: { nin: ['9'] } }, ['bob', 'cy']],
  ]),
  table('an empty list matches nothing, and its negation everything', [
    [{ label: [] }, []],
    [{ label: { in: [] } }, []],
    [{ not: { label: [] } }, ['ann', 'bob', 'cy', null]],
    [{ label: { nin: [] } }, ['ann', 'bob', 'cy', null]],
    [{ label: { '!=': [] } }, ['ann', 'bob', 'cy', null]],
    [{ id: [] }, []],
    [[], []],
  ]),
  table('null is matched only by null', [
    [{ label: null }, [null]],
    [{ label: { '!=': null } }, ['ann', 'bob', 'cy']],
    [{ label: { '!': null } }, ['ann', 'bob', 'cy']],
    [{ label: { not: null } }, ['ann', 'bob', 'cy']],
    [{ bornAt: null }, ['cy', null]],
    [{ notes: null }, ['ann', 'cy', null]],
    [{ notes: { '!=': null } }, ['bob']],
    [{ photo: null, token: null }, ['bob', null]],
    [{ legs: { '<': 100 } }, ['ann', 'bob', 'cy']],
    [{ label: { contains: '' } }, ['ann', 'bob', 'cy']],
  ]),
  table('and, or, not', [
    [{ or: [{ label: 'ann' }, { legs: 2 }] }, ['ann', 'bob', 'cy']],
    [{ or: [{ label: 'ann', legs: 2 }, { weight: { '>': 9 } }] }, ['bob']],
    [{ legs: 2, or: [{ label: 'ann' }, { label: 'bob' }] }, ['bob']],
    [{ and: [{ legs: 2 }, { alive: true }] }, ['cy']],
    [{ and: [{ or: [{ label: 'ann' }, { label: 'bob' }] }, { or: [{ legs: 2 }, { legs: 3 }] }] }, ['bob']],
    [{ not: { label: 'ann' } }, ['bob', 'cy', null]],
    [{ not: { not: { label: 'ann' } } }, ['ann']],
    [{ not: { or: [{ label: 'ann' }, { legs: 2 }] } }, [null]],
    [{ legs: 2, not: { alive: true } }, ['bob']],
    [{ or: [] }, []],
    [{ and: [] }, ['ann', 'bob', 'cy', null]],
    [{ or: [{}] }, ['ann', 'bob', 'cy', null]],
    [{ and: [{}] }, ['ann', 'bob', 'cy', null]],
    [{ not: {} }, []],
    [{ not: { or: [] } }, ['ann', 'bob', 'cy', null]],
    [{ or: [{ label: 'ann' }, { or: [] }] }, ['ann']],
  ]),
  table('a comparison with null is false, and its negation true', [
    [{ not: { legs: { '>': 2 } } }, ['bob', 'cy', null]],
    [{ not: { legs: { '<=': 2 } } }, ['ann', null]],
    [{ not: { legs: { '!=': 2 } } }, ['bob', 'cy', null]],
    [{ not: { label: { in: ['ann', 'bob'] } } }, ['cy', null]],
    [{ not: { label: { nin: ['ann', 'bob'] } } }, ['ann', 'bob', null]],
    [{ not: { label: { startsWith: 'a' } } }, ['bob', 'cy', null]],
    [{ not: { label: { contains: '' } } }, [null]],
    [{ not: { label: { like: '%' } } }, [null]],
    [{ not: { label: null } }, ['ann', 'bob', 'cy']],
    [{ not: { and: [{ legs: 2 }, { alive: true }] } }, ['ann', 'bob', null]],
    [{ not: { or: [{ legs: 2 }, { label: 'ann' }] } }, [null]],
    [{ or: [{ not: { legs: 2 } }, { label: 'bob' }] }, ['ann', 'bob', null]],
    [{ not: { not: { legs: { '>': 2 } } } }, ['ann']],
  ]),
  {
    name: 'where: a bare key or a list of keys selects these records',
    async run(api) {
      await createFixtures(api)
      const ids = column(await find(api, {}), 'id') as readonly number[]
      const [a, b] = [ids[0] as number, ids[1] as number]
      for (const where of [a, String(a), [a], { id: a }, { id: String(a) }, { id: [a] }]) {
        assert.deepEqual(column(await find(api, where), 'id'), [a], JSON.stringify(where))
      }
      assert.deepEqual(column(await find(api, [b, a]), 'id'), [a, b])
      assert.deepEqual(column(await find(api, { id: { '>': b } }), 'id'), ids.slice(2))
      assert.deepEqual(column(await find(api, { id: { '!=': a } }), 'id'), ids.slice(1))
    },
  },
  {
    name: 'where: a to-one is compared by key',
    async run(api) {
      const ann = (await create(api, 'keeper', { name: 'Ann' })).id as number
      await create(api, 'enclosure', { code: 'C 1' })
      await create(api, 'animal', { name: 'Leo', keeper: ann })
      await create(api, 'animal', { name: 'Tom', enclosure: 'C 1' })
      const cases = [
        [{ keeper: ann }, ['Leo']],
        [{ keeper: String(ann) }, ['Leo']],
        [{ keeper: null }, ['Tom']],
        [{ keeper: { '!=': null } }, ['Leo']],
        [{ keeper: { '!=': ann } }, []],
        [{ not: { keeper: ann } }, ['Tom']],
        [{ keeper: [ann, 999999] }, ['Leo']],
        [{ enclosure: 'C 1' }, ['Tom']],
        [{ enclosure: { startsWith: 'C' } }, ['Tom']],
      ] as const
      for (const [where, names] of cases) {
        assert.deepEqual(
          column(await api.request('GET', address('/animal', { where })), 'name'),
          names,
          JSON.stringify(where),
        )
      }
      refused(await api.request('GET', address('/animal', { where: { keeper: 'abc' } })), 'E_BAD_CRITERIA', {
        attribute: 'keeper',
      })
    },
  },
  {
    name: 'where: JSON and bytes are compared by equality, whatever the order of the members',
    async run(api) {
      const values: readonly Json[] = [
        { a: 1, b: { c: [1.5, 'é'] } },
        [1, 2],
        [2, 1],
        {},
        'x',
        '5',
        5,
        false,
        'null',
        '',
      ]
      for (const [index, notes] of values.entries()) await create(api, 'specimen', { label: `${index}`, notes })
      await create(api, 'specimen', { label: 'bytes', photo: 'AAEC' })
      const given: readonly (readonly [notes: Json, labels: readonly string[]])[] = [
        ['{"b":{"c":[1.50,"\\u00e9"]},"a":1.0}', ['0']],
        ['{"a":1}', []],
        [' [1, 2]', ['1']],
        ['[2,1]', ['2']],
        ['{}', ['3']],
        ['x', ['4']],
        ['"x"', ['4']],
        ['"5"', ['5']],
        ['5', ['6']],
        ['5e0', ['6']],
        [5, ['6']],
        [false, ['7']],
        ['false', ['7']],
        ['"null"', ['8']],
        ['null', ['bytes']],
        ['', ['9']],
      ]
      for (const [notes, labels] of given) {
        const hint = JSON.stringify(notes)
        for (const query of [{ where: { notes } }, { notes }] as readonly JsonObject[])
          assert.deepEqual(column(await api.request('GET', address('/specimen', query)), 'label'), labels, hint)
        const others = column(await find(api, { not: { notes } }), 'label')
        assert.equal(others.length, values.length + 1 - labels.length, hint)
      }
      assert.deepEqual(column(await api.request('GET', '/specimen?photo=AAEC'), 'label'), ['bytes'])
      assert.deepEqual(column(await find(api, { photo: 'AAED' }), 'label'), [])
      refused(await find(api, { notes: { a: 1 } }), 'E_BAD_CRITERIA', { attribute: 'notes' })
    },
  },
  {
    name: 'where: a number beyond the safe integers is found by equality and in a list',
    async run(api) {
      const weight = -22640194053759590
      const { id } = await create(api, 'specimen', { weight })
      const matching: readonly Json[] = [{ weight }, { weight: { in: [weight, 1.5] } }, { weight: { '>=': weight } }]
      for (const where of matching) {
        assert.deepEqual(column(await api.request('GET', address('/specimen', { where })), 'id'), [id])
      }
      const where = { weight: { nin: [weight] } }
      assert.deepEqual(column(await api.request('GET', address('/specimen', { where })), 'id'), [])
    },
  },
  {
    name: 'where: a to-many cannot be compared',
    async run(api) {
      for (const where of [{ animals: 1 }, { animals: null }, { teams: [] }] as readonly Json[]) {
        refused(await api.request('GET', address('/keeper', { where })), 'E_BAD_CRITERIA')
      }
    },
  },
]
