import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseWhere } from '../criteria/parse-where.ts'
import { defineModels } from '../model/define.ts'
import type { Model } from '../model/model.ts'
import type { JsonObject } from '../protocol/json.ts'
import { defaultLimits } from '../support/limits.ts'
import { constantOf } from './constant-condition.ts'

const models = defineModels({
  owner: { attributes: { name: { type: 'string' } } },
  pet: { attributes: { name: { type: 'string' }, owner: { model: 'owner' } } },
})

const cases: readonly (readonly [where: JsonObject, constant: boolean | undefined])[] = [
  [{}, true],
  [{ and: [] }, true],
  [{ or: [] }, false],
  [{ or: [{}] }, true],
  [{ or: [{}, { name: 'x' }] }, true],
  [{ and: [{}] }, true],
  [{ and: [{}, { name: 'x' }] }, undefined],
  [{ and: [{ or: [] }, { name: 'x' }] }, false],
  [{ not: {} }, false],
  [{ not: { or: [] } }, true],
  [{ not: { name: 'x', or: [] } }, true],
  [{ not: { name: 'x' } }, undefined],
  [{ name: [] }, false],
  [{ name: { '!=': [] } }, true],
  [{ id: { nin: [] } }, true],
  [{ name: 'x', id: { nin: [] } }, undefined],
  [{ id: { nin: [1] } }, undefined],
  [{ owner: {} }, undefined],
  [{ owner: { or: [] } }, false],
  [{ not: { owner: { or: [] } } }, true],
  [{ name: 'x' }, undefined],
  [{ name: { contains: '' } }, undefined],
  [{ id: { '!=': null } }, undefined],
]
for (const [where, constant] of cases) {
  test(`${JSON.stringify(where)} is fulfilled by ${constant ? 'all' : constant === false ? 'none' : 'some'}`, () =>
    assert.equal(constantOf(parseWhere(where, models.get('pet') as Model, defaultLimits)), constant))
}
