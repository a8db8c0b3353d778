import assert from 'node:assert/strict'
import { create, list, record, refused } from '../expect.ts'
import type { Scenario } from '../scenario.ts'

const all = [
  'id',
  'label',
  'weight',
  'legs',
  'serial',
  'alive',
  'notes',
  'bornAt',
  'token',
  'photo',
  'createdAt',
  'updatedAt',
]
const without = (...names: readonly string[]) => all.filter((name) => !names.includes(name))

/** `select` and `omit`. */
export const projection: readonly Scenario[] = [
  {
    name: 'select and omit: each notation, for lists and single records',
    async run(api) {
      const made = await create(api, 'specimen', { label: 'a', legs: 4 })
      const cases = [
        ['', all],
        ['select=label', ['id', 'label']],
        ['select=label,legs', ['id', 'label', 'legs']],
        ['select=legs,%20label', ['id', 'label', 'legs']],
        ['select=id', ['id']],
        ['select=label,label', ['id', 'label']],
        ['select=*', all],
        ['select[]=label&select[]=legs', ['id', 'label', 'legs']],
        ['select=label&select=legs', ['id', 'label', 'legs']],
        ['omit=label', without('label')],
        ['omit=label,%20createdAt,notes', without('label', 'createdAt', 'notes')],
        ['omit[]=label', without('label')],
        ['select=label&omit=label', ['id', 'label']],
        ['select=photo,notes,bornAt', ['id', 'notes', 'bornAt', 'photo']],
      ] as const
      for (const [query, names] of cases) {
        for (const path of ['/specimen', '/specimen/find']) {
          const [found] = list(await api.request('GET', `${path}?${query}`))
          assert.deepEqual(Object.keys(found ?? {}), names, query)
          for (const name of names) assert.deepEqual(found?.[name], made[name])
        }
        const one = record(await api.request('GET', `/specimen/${made.id}?${query}`))
        assert.deepEqual(Object.keys(one), names, query)
      }
    },
  },
  {
    name: 'select: filters and sorting may use attributes that are not selected',
    async run(api) {
      for (const [label, legs] of [
        ['a', 1],
        ['b', 3],
        ['c', 2],
      ] as const)
        await create(api, 'specimen', { label, legs })
      const found = list(await api.request('GET', '/specimen?select=label&legs[>]=1&sort=legs'))
      assert.deepEqual(
        found.map(({ label, legs }) => [label, legs]),
        [
          ['c', undefined],
          ['b', undefined],
        ],
      )
    },
  },
  {
    name: 'select: the primary key is always included',
    async run(api) {
      await create(api, 'enclosure', { code: 'A', title: 't' })
      for (const [query, expected] of [
        ['select=title', { code: 'A', title: 't' }],
        ['select=code', { code: 'A' }],
      ] as const) {
        assert.deepEqual(list(await api.request('GET', `/enclosure?populate=false&${query}`)), [expected])
      }
    },
  },
  {
    name: 'select and omit: an unknown attribute is refused',
    async run(api) {
      const { id } = await create(api, 'specimen', { label: 'a' })
      const wrong = [
        '',
        'nosuch',
        'Label',
        'label,',
        ',',
        'label,nosuch',
        'label;legs',
        'label legs',
        '["label"]',
        'legs.x',
        '*,label',
        '__proto__',
        'constructor',
      ]
      for (const text of wrong) {
        for (const word of ['select', 'omit']) {
          const query = `${word}=${encodeURIComponent(text)}`
          for (const path of ['/specimen', `/specimen/${id}`])
            refused(await api.request('GET', `${path}?${query}`), 'E_BAD_CRITERIA')
        }
      }
      refused(await api.request('GET', '/specimen?omit=id'), 'E_BAD_CRITERIA')
      refused(await api.request('GET', '/specimen?omit=*'), 'E_BAD_CRITERIA')
      refused(await api.request('GET', '/specimen?select[label]=1'), 'E_BAD_CRITERIA')
      refused(await api.request('GET', '/keeper?select=animals&populate=false'), 'E_BAD_CRITERIA')
    },
  },
]
