import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Random } from '../../../test/support/random.ts'
import { compareSorted, matches } from '../../criteria/matches.ts'
import { parseSort } from '../../criteria/parse-sort.ts'
import { parseWhere } from '../../criteria/parse-where.ts'
import { defineModels } from '../../model/define.ts'
import type { Model } from '../../model/model.ts'
import type { Change } from '../../protocol/change.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { defaultLimits } from '../../support/limits.ts'
import { heldSortOf, LocalRows, sortValuesOf } from './local-rows.ts'
import type { LocalQuery } from './query-plan.ts'

const models = defineModels({ pet: { attributes: { kind: { type: 'string' }, age: { type: 'number' } } } })
const pet = models.get('pet') as Model

const queryOf = (limit: number, sort = 'age DESC'): LocalQuery => ({
  where: parseWhere({ kind: 'dog' }, pet, defaultLimits),
  sort: parseSort(sort, pet, defaultLimits),
  limit,
  textOf: (record) => JSON.stringify(record),
  digestOf: (text) => text,
})

/** What the database would find. */
function found(table: ReadonlyMap<number, JsonObject>, query: LocalQuery) {
  const all = [...table.values()]
    .filter((record) => matches(query.where, record))
    .sort((a, b) => compareSorted(sortValuesOf(a, query), sortValuesOf(b, query), query.sort))
  const rows = all.slice(0, query.limit).map((record) => ({
    id: record.id as number,
    digest: JSON.stringify(record),
    sort: sortValuesOf(record, query),
  }))
  return { rows, hasMore: all.length > query.limit }
}

const change = (id: number, before: JsonObject | undefined, after: JsonObject | undefined): Change =>
  ({ id, model: 'pet', ...(before && { before }), ...(after && { after }) }) as unknown as Change

describe('rows that are maintained from images', () => {
  test('equal what the database finds, after every random change', () => {
    const random = new Random(3)
    let unknown = 0
    for (let round = 0; round < 300; round++) {
      const query = queryOf(1 + random.below(6), random.pick(['age DESC', 'age', 'kind, age']))
      const table = new Map<number, JsonObject>()
      const rows = new LocalRows(query)
      rows.reset([], false)
      for (let step = 0; step < 40; step++) {
        const id = 1 + random.below(10)
        const before = table.get(id)
        const after =
          before && random.chance(0.3) ? undefined : { id, kind: random.pick(['dog', 'cat']), age: random.below(8) }
        if (after) table.set(id, after)
        else table.delete(id)
        const effect = rows.apply(change(id, before, after))
        const expected = found(table, query)
        if (effect === 'unknown') {
          unknown++
          rows.reset(expected.rows, expected.hasMore)
        }
        assert.deepEqual(rows.rows, expected.rows)
      }
    }
    assert.ok(unknown > 100, 'windows that lose a row are read again')
  })

  test('ask for a read only when a row that is not held may come into the window', () => {
    const query = queryOf(2)
    const row = (id: number, age: number) => ({ id, digest: '', sort: [age, id] })
    const dog = (id: number, age: number) => ({ id, kind: 'dog', age })
    const cases = [
      ['a row after the window', change(9, undefined, dog(9, 1)), 'none'],
      ['a row into the window', change(9, undefined, dog(9, 8)), 'changed'],
      ['a move within it', change(2, dog(2, 5), dog(2, 9)), 'changed'],
      ['a move behind it', change(2, dog(2, 5), dog(2, 1)), 'unknown'],
      ['a row that leaves it', change(1, dog(1, 7), undefined), 'unknown'],
      ['a row behind it that goes', change(9, dog(9, 1), undefined), 'none'],
      [
        'a record that never matches',
        change(8, { id: 8, kind: 'cat', age: 9 }, { id: 8, kind: 'cat', age: 1 }),
        'none',
      ],
    ] as const
    for (const [what, one, effect] of cases) {
      const rows = new LocalRows(query)
      rows.reset([row(1, 7), row(2, 5)], true)
      assert.equal(rows.apply(one), effect, what)
    }
  })

  test('are not maintained where the database sorts in another order', () => {
    const rows = new LocalRows(queryOf(5, 'kind'))
    assert.equal(
      rows.reset(
        [
          { id: 1, digest: '', sort: ['b', 1] },
          { id: 2, digest: '', sort: ['B', 2] },
        ],
        false,
      ),
      false,
    )
  })

  test('are not maintained where a row is sorted by a long text, which each query would keep', () => {
    const query = queryOf(5, 'kind')
    const long = { id: 3, kind: 'x'.repeat(1_000_000) }
    assert.equal(heldSortOf(long, query), undefined)
    assert.deepEqual(heldSortOf({ id: 1, kind: 'dog' }, query), ['dog', 1])
    assert.equal(new LocalRows(query).reset([{ id: 3, digest: '' }], false), false)
    const all = { ...query, where: parseWhere({}, pet, defaultLimits) }
    assert.equal(new LocalRows(all).apply(change(3, undefined, long)), 'unknown')
  })
})
