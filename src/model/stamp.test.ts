import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineModels } from './define.ts'
import type { AttributeDefinition } from './definition.ts'
import { stampOf } from './stamp.ts'

const cases: readonly (readonly [AttributeDefinition, unknown])[] = [
  [{ autoCreatedAt: true }, '2026-11-21T00:35:03.411Z'],
  [{ type: 'datetime', autoCreatedAt: true }, '2026-11-21T00:35:03.411Z'],
  [{ type: 'ref', columnType: 'timestamptz', autoUpdatedAt: true }, '2026-11-21T00:35:03.411Z'],
  [{ type: 'string', autoCreatedAt: true }, '2026-11-21T00:35:03.411Z'],
  [{ type: 'number', autoUpdatedAt: true }, 1795221303411],
  [{ type: 'bigint', autoCreatedAt: true }, '1795221303411'],
]
for (const [definition, stamp] of cases) {
  test(JSON.stringify(definition), () => {
    const attribute = defineModels({ pet: { attributes: { at: definition } } })
      .get('pet')
      ?.attributes.get('at')
    assert.ok(attribute)
    assert.equal(stampOf(attribute, 1795221303411), stamp)
    assert.equal(attribute.type.parse(stampOf(attribute, 1795221303411)), stamp)
  })
}
