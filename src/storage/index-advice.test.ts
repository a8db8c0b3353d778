import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseSort } from '../criteria/parse-sort.ts'
import { parseWhere } from '../criteria/parse-where.ts'
import { defineModels } from '../model/define.ts'
import type { Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import { defaultLimits } from '../support/limits.ts'
import { adviseIndex } from './index-advice.ts'

const models = defineModels({
  owner: { attributes: { city: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: {
    attributes: {
      name: { type: 'string' },
      kind: { type: 'string' },
      age: { type: 'number' },
      owner: { model: 'owner' },
    },
  },
})
const pet = models.get('pet') as Model

describe('the index that would serve a query', () => {
  const cases: readonly (readonly [where: Json, sort: string, index: readonly string[] | undefined])[] = [
    [{ kind: 'dog' }, '', ['kind']],
    [{ kind: ['dog', 'cat'], name: 'Rex' }, '', ['kind', 'name']],
    [{ kind: 'dog' }, 'age DESC', ['kind', 'age DESC']],
    [{ kind: 'dog', age: { '>': 3 } }, '', ['kind', 'age']],
    [{ kind: 'dog', age: { '>': 3 } }, 'age', ['kind', 'age']],
    [{ age: { '>': 3 } }, 'age DESC', ['age DESC']],
    [{ age: { '>': 3 } }, 'name', ['age']],
    [{ name: { startsWith: 'R' } }, '', ['name']],
    [{}, 'name, age DESC', ['name', 'age DESC']],
    [{}, 'owner.city', undefined],
    [{ kind: 'dog' }, 'owner.city', ['kind']],
    [{ name: { contains: 'ex' } }, '', undefined],
    [{ name: { contains: 'ex' } }, 'age', undefined],
    [{ name: { contains: 'ex' }, kind: 'dog' }, 'age', ['kind', 'age']],
    [{ or: [{ kind: 'dog' }, { name: 'Rex' }] }, '', undefined],
    [{ not: { kind: 'dog' } }, 'age', undefined],
    [{ owner: { city: 'Oslo' } }, '', undefined],
  ]
  for (const [where, sort, index] of cases) {
    test(`${JSON.stringify(where)} sorted by "${sort}": ${index?.join(', ') ?? 'none'}`, () => {
      const shape = {
        model: pet,
        where: parseWhere(where, pet, defaultLimits),
        sort: sort === '' ? [] : parseSort(sort, pet, defaultLimits),
      }
      assert.deepEqual(adviseIndex(shape, true), index)
    })
  }

  for (const [where, sort, index] of [
    [{ kind: 'dog' }, '', ['kind']],
    [{ kind: 'dog' }, 'id', ['kind']],
    [{ kind: 'dog' }, 'age DESC', ['kind', 'age DESC', 'id']],
    [{}, 'name, id DESC', ['name', 'id DESC']],
    [{ kind: 'dog' }, 'owner.city', ['kind']],
  ] as const) {
    test(`${JSON.stringify(where)} sorted by "${sort}", where no key ends an index: ${index.join(', ')}`, () => {
      const sorted = sort === '' ? [] : parseSort(sort, pet, defaultLimits)
      const shape = { model: pet, where: parseWhere(where, pet, defaultLimits), sort: sorted }
      assert.deepEqual(adviseIndex(shape, false), index)
    })
  }
})
