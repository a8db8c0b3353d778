import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { emptyDatabase, withPostgres } from '../../../test/support/postgres-database.ts'
import { openTestStore, type TestStore } from '../../../test/support/postgres-store.ts'
import { allAttributes, type Condition, type Criteria, orderByPrimaryKey, type Sort } from '../../criteria/criteria.ts'
import { compareSorted, matches, sortValue } from '../../criteria/matches.ts'
import { parseSort } from '../../criteria/parse-sort.ts'
import { parseWhere } from '../../criteria/parse-where.ts'
import type { Attribute } from '../../model/model.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { defaultLimits } from '../../support/limits.ts'
import { encodeList } from '../store.ts'

const text = { type: 'string' } as const
const whole = { type: 'number', isInteger: true } as const

const texts = [
  null,
  '',
  ' ',
  'a',
  'A',
  'ab',
  'a b',
  'abc',
  'b',
  'é',
  'z',
  '%',
  '_',
  '\\',
  'a%',
  'a_',
  'a\\',
  '100%',
  '50% off',
  "it's",
  '"',
  '$1',
  'line\nbreak',
  'ﬀ',
  'ￂ',
  '\ud7ff',
  '\ue000',
  '\uffff',
  '🐕',
  '🐕🐈',
  '🐈',
  '\u{10ffff}',
  '\u{10ffff}x',
  'Straße',
  'STRASSE',
  '{a,b}',
  'null',
  'true',
]

describe('the dialect of PostgreSQL', withPostgres, () => {
  const criteriaOf = (store: TestStore, model: string, where: Condition, sort: readonly Sort[]): Criteria => ({
    where,
    sort,
    limit: 500,
    skip: 0,
    select: allAttributes(store.model(model)),
  })

  /** Asks the database and the memory, and wants the same answer. */
  const agree = async (store: TestStore, model: string, where: Json, sort?: Json) => {
    const condition = parseWhere(where, store.model(model), defaultLimits)
    const sorts = parseSort(sort, store.model(model), defaultLimits)
    const expected = (await store.find(model)).filter((record) => matches(condition, record))
    const found = (await store.store.find(store.model(model), criteriaOf(store, model, condition, sorts))).decode()
    const ids = (records: readonly JsonObject[]) => records.map(({ id }) => id)
    const key = (record: JsonObject) => sorts.map((sort) => sortValue(sort, record))
    const ordered = expected.toSorted((a, b) => compareSorted(key(a), key(b), sorts))
    assert.deepEqual(ids(found), ids(ordered), JSON.stringify({ where, sort }))
  }

  test('text is compared, searched and sorted as in memory', async () => {
    await using database = await emptyDatabase()
    await using store = await openTestStore(database.url, {
      word: {
        attributes: {
          text,
          other: { ...text, required: true },
          icu: { ...text, columnType: 'text collate "und-x-icu"' },
        },
      },
    })
    for (const word of texts) await store.insert('word', { text: word, other: word ?? '', icu: word })
    for (const word of texts) {
      if (word === null) continue
      for (const operator of ['contains', 'startsWith', 'endsWith', '<', '<=', '>', '>=', '!=']) {
        await agree(store, 'word', { text: { [operator]: word } })
        await agree(store, 'word', { not: { text: { [operator]: word } } })
      }
      await agree(store, 'word', { icu: { startsWith: word } })
      await agree(store, 'word', { icu: { contains: word } })
      await agree(store, 'word', { text: word })
      if (word !== '') await agree(store, 'word', { text: { like: word } })
      if (word !== '') await agree(store, 'word', { text: { like: `%${word}` } })
      if (word !== '') await agree(store, 'word', { text: { like: `_${word}%` } })
    }
    for (const pattern of ['a\\%', '\\%', '\\\\', 'a\\', '%\\', '\\', '__', '%', 'a%b%', '\\a'])
      await agree(store, 'word', { text: { like: pattern } })
    await agree(store, 'word', { text: texts.filter((word) => word !== null) })
    await agree(store, 'word', { text: { nin: ['a', '\\', '"', '{a,b}', 'null', ''] } })
    for (const direction of ['ASC', 'DESC']) {
      await agree(store, 'word', {}, `text ${direction}`)
      await agree(store, 'word', {}, `other ${direction}`)
    }
  })

  test('every other type too', async () => {
    await using database = await emptyDatabase()
    await using store = await openTestStore(database.url, {
      thing: {
        attributes: {
          int: whole,
          real: { type: 'number' },
          big: { type: 'bigint' },
          flag: { type: 'boolean' },
          time: { type: 'datetime' },
          uuid: { type: 'string', isUUID: true, allowNull: true },
        },
      },
    })
    const values: Readonly<Record<string, readonly Json[]>> = {
      int: [0, -1, 1, 9007199254740991, -9007199254740991],
      real: [0, 0.1, -0.1, 1e300, 1e-300, 5, 123456789.125],
      big: ['0', '-1', '9223372036854775807', '-9223372036854775808', '9007199254740993', '10', '9'],
      flag: [true, false],
      time: [
        '2026-11-21T03:00:00.000Z',
        '2026-11-21T03:00:00.120Z',
        '0001-01-01T00:00:00.000Z',
        '9999-12-31T23:59:59.999Z',
      ],
      uuid: [
        '00000000-0000-0000-0000-000000000000',
        'ffffffff-ffff-ffff-ffff-ffffffffffff',
        'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
      ],
    }
    await store.insert('thing', { uuid: null })
    for (const [name, list] of Object.entries(values))
      for (const value of list) await store.insert('thing', { uuid: null, [name]: value })
    for (const [name, list] of Object.entries(values)) {
      await agree(store, 'thing', { [name]: null })
      await agree(store, 'thing', { [name]: { '!=': null } })
      await agree(store, 'thing', { [name]: list })
      await agree(store, 'thing', { [name]: { nin: list.slice(1) } })
      for (const value of list) {
        await agree(store, 'thing', { [name]: value })
        await agree(store, 'thing', { [name]: { '!=': value } })
        if (name === 'flag') continue
        for (const operator of ['<', '<=', '>', '>=']) await agree(store, 'thing', { [name]: { [operator]: value } })
      }
      if (name !== 'flag')
        for (const direction of ['ASC', 'DESC']) await agree(store, 'thing', {}, `${name} ${direction}`)
    }
    const model = store.model('thing')
    const records = await store.store.find(
      model,
      criteriaOf(store, 'thing', { kind: 'and', conditions: [] }, orderByPrimaryKey(model)),
    )
    assert.deepEqual(JSON.parse(encodeList(records)), records.decode())
    for (const [name, list] of Object.entries(values)) {
      assert.deepEqual(
        records.values(model.attributes.get(name) as Attribute).filter((value) => value !== null),
        list,
        name,
      )
    }
  })
})
