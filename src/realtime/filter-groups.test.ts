import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseWhere } from '../criteria/parse-where.ts'
import { defineModels } from '../model/define.ts'
import type { Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import { anonymous } from '../protocol/requester.ts'
import { defaultLimits } from '../support/limits.ts'
import { FilterGroups } from './filter-groups.ts'
import type { Subscriber } from './subscriber.ts'
import { fullView, type Images, type View } from './visibility.ts'

const pet = defineModels({
  pet: { attributes: { name: { type: 'string' }, kind: { type: 'string' }, weight: { type: 'number' } } },
}).get('pet') as Model
const where = (raw: Json) => parseWhere(raw, pet, defaultLimits)
const subscriber = (): Subscriber => ({ requester: anonymous, deliver: () => 0, onGap: () => {} })
const dog = { id: 1, name: 'Rex', kind: 'dog', weight: 5 }
const cat = { ...dog, kind: 'cat' }

for (const [what, condition, images, isCandidate] of [
  ['an equality, and the value before', { kind: 'dog' }, { before: dog, after: cat }, true],
  ['an equality, and the value after', { kind: 'cat' }, { before: dog, after: cat }, true],
  ['an equality, and another value', { kind: 'cow' }, { before: dog, after: cat }, false],
  ['an equality beside other conditions', { weight: { '>': 9 }, kind: 'cow' }, { after: dog }, false],
  ['an equality in one of several alternatives', { or: [{ kind: 'cow' }, { weight: 5 }] }, { after: dog }, true],
  ['an equality with null', { kind: null }, { after: dog }, true],
  ['no equality', { weight: { '>': 9 } }, { after: dog }, true],
  ['the condition negated', { not: { kind: 'dog' } }, { after: dog }, true],
] as const satisfies readonly (readonly [string, Json, Images, boolean])[]) {
  test(`candidates are found by ${what}: ${isCandidate}`, () => {
    const groups = new FilterGroups()
    const [of, condition_] = [subscriber(), where(condition)]
    groups.add(of, fullView, condition_)
    groups.add(subscriber(), fullView, where({ kind: 'horse' }))
    const found = [...groups.candidates(() => images)]
    assert.deepEqual(
      found.map(({ where }) => where),
      isCandidate ? [condition_] : [],
    )
    groups.remove(of, fullView, condition_)
    assert.deepEqual([...groups.candidates(() => images)], [])
  })
}

test('equal conditions of one view share a group', () => {
  const groups = new FilterGroups()
  const restricted: View = { key: 'restricted' }
  const [a, b, c] = [subscriber(), subscriber(), subscriber()]
  groups.add(a, fullView, where({ kind: 'dog', weight: 1 }))
  groups.add(b, fullView, where({ kind: 'dog', weight: 1 }))
  groups.add(c, restricted, where({ kind: 'dog', weight: 1 }))
  assert.deepEqual(
    [...groups].map(({ subscribers }) => [...subscribers.keys()]),
    [[a, b], [c]],
  )
})

test('images are not computed where no condition needs them', () => {
  const groups = new FilterGroups()
  groups.add(subscriber(), fullView, undefined)
  assert.equal([...groups.candidates(() => assert.fail('computed'))].length, 1)
})
