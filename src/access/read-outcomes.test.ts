import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Condition, matchAll, matchNone } from '../criteria/criteria.ts'
import type { Model } from '../model/model.ts'
import type { ReadAccess } from './guard.ts'
import { ReadOutcomes } from './read-outcomes.ts'

const [pet, owner] = [{ name: 'pet' }, { name: 'owner' }] as unknown as [Model, Model]

const reading = (ofPet: Condition, ofOwner: Condition, hasMasks = false): ReadAccess => ({
  readable: (model) => (model === pet ? ofPet : ofOwner),
  mask: () => undefined,
  isMaskable: () => hasMasks,
  hasMasks,
})

test('a value is found by the conditions of all models, and by nothing less', () => {
  const outcomes = new ReadOutcomes<string>([pet, owner])
  outcomes.set(reading(matchAll, matchNone), 'pets')
  outcomes.set(reading(matchNone, matchAll), 'owners')
  assert.equal(outcomes.get(reading(matchAll, matchNone)), 'pets')
  assert.equal(outcomes.get(reading(matchNone, matchAll)), 'owners')
  assert.equal(outcomes.get(reading(matchAll, matchAll)), undefined)
  assert.equal(outcomes.get(reading(matchNone, matchNone)), undefined)
})

test('where attributes have rules, nothing is found', () => {
  const outcomes = new ReadOutcomes<string>([pet])
  outcomes.set(reading(matchAll, matchAll, true), 'masked')
  assert.equal(outcomes.get(reading(matchAll, matchAll, true)), undefined)
  assert.equal(outcomes.get(reading(matchAll, matchAll)), undefined)
})

test('of many that begin alike, the oldest gives way to new ones', () => {
  const outcomes = new ReadOutcomes<number>([pet, owner])
  const conditions = Array.from({ length: 17 }, (): Condition => ({ ...matchAll }))
  for (const [number, condition] of conditions.entries()) outcomes.set(reading(matchAll, condition), number)
  assert.deepEqual(
    conditions.map((condition) => outcomes.get(reading(matchAll, condition))),
    [undefined, ...Array.from({ length: 16 }, (_, number) => number + 1)],
  )
})
