import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineModels } from '../model/define.ts'
import type { Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import { defaultLimits } from '../support/limits.ts'
import { conditionKey, conditionShape } from './condition-key.ts'
import type { Condition } from './criteria.ts'
import { parseWhere } from './parse-where.ts'

const models = defineModels({
  owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: {
    attributes: {
      name: { type: 'string' },
      age: { type: 'number' },
      owner: { model: 'owner' },
      friends: { collection: 'pet', via: 'friendOf' },
      friendOf: { collection: 'pet', via: 'friends' },
    },
  },
})
const pet = models.get('pet') as Model
const where = (raw: Json): Condition => parseWhere(raw, pet, defaultLimits)

const same: readonly (readonly [title: string, a: Json, b: Json])[] = [
  ['two spellings of one operator', { age: { '<': 3 } }, { age: { lessThan: 3 } }],
  ['a value and its text', { age: 3 }, { age: '3' }],
  ['a list and `in`', { age: [1, 2] }, { age: { in: [1, 2] } }],
]

const ofOneShape: readonly (readonly [title: string, a: Json, b: Json])[] = [
  ['other values', { age: 1, name: 'a' }, { age: 2, name: 'b' }],
  ['lists of other lengths', { age: [1] }, { age: [1, 2] }],
  ['values of a related condition', { owner: { name: 'a' } }, { owner: { name: 'b' } }],
]

const different: readonly (readonly [title: string, a: Json, b: Json])[] = [
  ['another attribute', { name: 'a' }, { owner: 1 }],
  ['another operator', { age: { '<': 1 } }, { age: { '<=': 1 } }],
  ['null and a value', { age: null }, { age: 1 }],
  ['an empty list and a list', { age: [] }, { age: [1] }],
  ['an empty text and a text', { name: { startsWith: '' } }, { name: { startsWith: 'a' } }],
  ['`and` and `or`', { and: [{ age: 1 }, { name: 'a' }] }, { or: [{ age: 1 }, { name: 'a' }] }],
  ['other nesting', { not: { and: [{ age: 1 }, { age: 2 }] } }, { and: [{ not: { age: 1 } }, { age: 2 }] }],
  ['the two directions of an association', { friends: { age: 1 } }, { friendOf: { age: 1 } }],
  ['a text that looks like a condition', { name: '"or(' }, { or: [{ name: '' }] }],
]

describe('conditionKey', () => {
  for (const [title, a, b] of same) {
    test(`is the same for ${title}`, () => assert.equal(conditionKey(where(a)), conditionKey(where(b))))
  }
  for (const [title, a, b] of [...ofOneShape, ...different]) {
    test(`differs for ${title}`, () => assert.notEqual(conditionKey(where(a)), conditionKey(where(b))))
  }
})

describe('conditionShape', () => {
  for (const [title, a, b] of [...same, ...ofOneShape]) {
    test(`is the same for ${title}`, () => assert.equal(conditionShape(where(a)), conditionShape(where(b))))
  }
  for (const [title, a, b] of different) {
    test(`differs for ${title}`, () => assert.notEqual(conditionShape(where(a)), conditionShape(where(b))))
  }
})
