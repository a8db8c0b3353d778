import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random } from '../../test/support/random.ts'
import { seed } from '../../test/support/seed.ts'
import { conditionShape } from '../criteria/condition-key.ts'
import type { Condition } from '../criteria/criteria.ts'
import { matches } from '../criteria/matches.ts'
import { parseWhere } from '../criteria/parse-where.ts'
import { defineModels } from '../model/define.ts'
import type { Model } from '../model/model.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { defaultLimits } from '../support/limits.ts'
import { ShapeEvaluation, verdictAt } from './shape-evaluation.ts'

const models = defineModels({
  pet: {
    attributes: {
      name: { type: 'string' },
      weight: { type: 'number' },
      owner: { type: 'number', isInteger: true },
      lost: { type: 'boolean' },
    },
  },
})
const pet = models.get('pet') as Model
const values: Readonly<Record<string, readonly Json[]>> = {
  name: ['', 'Rex', 'rex', 'Kit', '🐕', '\uffff'],
  weight: [0, 1, 2, 2.5, 10],
  owner: [0, 1, 2, 3],
  lost: [true, false],
}
const operators: Readonly<Record<string, readonly string[]>> = {
  name: ['=', '!=', 'in', 'nin', '<', '>=', 'contains', 'startsWith'],
  weight: ['=', '!=', 'in', 'nin', '<', '<=', '>', '>='],
  owner: ['=', '!=', 'in', 'nin', '<='],
  lost: ['=', '!='],
}

/** A structure whose operands are drawn anew for each condition. */
type Shape = (random: Random) => JsonObject

function randomShape(random: Random, depth = 2): Shape {
  const kind = depth === 0 ? 0 : random.below(4)
  if (kind === 1) {
    const inner = randomShape(random, depth - 1)
    return (random) => ({ not: inner(random) })
  }
  if (kind > 1) {
    const parts = Array.from({ length: 1 + random.below(3) }, () => randomShape(random, depth - 1))
    return (random) => ({ [kind === 2 ? 'and' : 'or']: parts.map((part) => part(random)) })
  }
  const name = random.pick(Object.keys(values))
  const operator = random.pick(operators[name] as readonly string[])
  const drawn = (random: Random) => random.pick(values[name] as readonly Json[])
  if (operator === 'in' || operator === 'nin') {
    const length = random.below(3)
    return (random) => ({ [name]: { [operator]: Array.from({ length }, () => drawn(random)) } })
  }
  const comparison = (value: Json) => ({ [name]: operator === '=' ? value : { [operator]: value } })
  if (['=', '!='].includes(operator) && random.chance(0.2)) return () => comparison(null)
  return (random) => comparison(drawn(random))
}

const randomImage = (random: Random): JsonObject =>
  Object.fromEntries(
    Object.entries(values).map(([name, list]) => [name, random.chance(0.2) ? null : random.pick(list)]),
  )

test('the conditions of a shape, decided together, are what each of them says of both images', (t) => {
  t.diagnostic(`KEELSON_TEST_SEED=${seed}`)
  const random = new Random(seed)
  let held = 0
  for (let round = 0; round < 300; round++) {
    const shape = randomShape(random)
    const conditions = Array.from({ length: 40 }, () => parseWhere(shape(random), pet, defaultLimits))
    // An empty text compiles to other SQL, and is a shape of its own.
    for (const same of Map.groupBy(conditions, conditionShape).values()) {
      const evaluation = new ShapeEvaluation(same[0] as Condition)
      const positions = same.map((condition) => evaluation.add(condition))
      for (let change = 0; change < 5; change++) {
        const before = random.chance(0.2) ? undefined : randomImage(random)
        const after = before && random.chance(0.5) ? { ...before, weight: 2 } : randomImage(random)
        const outcome = evaluation.decide({ before, after }, () => assert.fail('nothing is related'))
        for (const [at, condition] of same.entries()) {
          const position = positions[at] as number
          const told = `${JSON.stringify(before)} → ${JSON.stringify(after)}: ${conditionShape(condition)}`
          assert.equal(verdictAt(outcome.before, position), before && matches(condition, before), told)
          assert.equal(verdictAt(outcome.after, position), matches(condition, after), told)
          if (matches(condition, after)) held++
        }
      }
    }
  }
  assert.ok(held > 1000, 'the generator makes conditions that hold')
})
