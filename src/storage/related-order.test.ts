import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Criteria, matchAll, type Sort } from '../criteria/criteria.ts'
import { defineModels } from '../model/define.ts'
import type { Association, Attribute, Model } from '../model/model.ts'
import { comesInOrder, inOrder } from './related-order.ts'
import { sqliteDialect } from './sqlite/dialect.ts'

const models = defineModels(
  {
    owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
    pet: { attributes: { name: { type: 'string' }, owner: { model: 'owner' } } },
  },
  { createdAt: false, updatedAt: false },
)
const owner = models.get('owner') as Model
const pet = models.get('pet') as Model
const pets = owner.associations.get('pets') as Association
const ownerOf = pet.associations.get('owner') as Association

const attribute = (name: string): Attribute => pet.attributes.get(name) as Attribute
const criteria = (select: readonly string[], sort: readonly Sort[]): Criteria => ({
  where: matchAll,
  select: select.map(attribute),
  sort,
  limit: 30,
  skip: 0,
})
const by = (name: string, direction: 'asc' | 'desc' = 'asc'): Sort => ({ attribute: attribute(name), direction })

describe('the order of related records', () => {
  const byKey = criteria(['id', 'name'], [by('id')])
  const rows = [
    [3, 'c', 1],
    [7, 'g', 1],
    [1, 'a', 2],
    [2, 'b', 3],
  ]

  test('stays as it came', () => assert.equal(inOrder(rows, pets, byKey, sqliteDialect), rows))

  for (const [what, places] of [
    ['numbers of keys', [2, 3, 0, 1]],
    ['keys of one number', [1, 0, 2, 3]],
  ] as const) {
    test(`is made where the planner has chosen another order of ${what}`, () => {
      const given = places.map((place) => rows[place] as (typeof rows)[number])
      assert.deepEqual(inOrder(given, pets, byKey, sqliteDialect), rows)
    })
  }

  test('of what to-one associations refer to is that of the keys', () => {
    const given = [
      [7, 'g', 1],
      [3, 'c', 2],
    ]
    const select = [...owner.attributes.values()]
    assert.deepEqual(inOrder(given.toReversed(), ownerOf, { ...byKey, select }, sqliteDialect), given)
  })

  for (const [what, of] of [
    ['by another attribute', criteria(['id', 'name'], [by('name'), by('id')])],
    ['downwards', criteria(['id', 'name'], [by('id', 'desc')])],
    ['by a key that is not read', criteria(['name'], [by('id')])],
  ] as const)
    test(`${what} is left to the statement`, () => assert.equal(comesInOrder(pets, of, sqliteDialect), false))
})
