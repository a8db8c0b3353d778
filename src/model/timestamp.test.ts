import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { defineModels } from './define.ts'
import type { AttributeDefinition } from './definition.ts'
import { isIsoTime, isoTime, timestampFor } from './timestamp.ts'
import { attributeTypes } from './types.ts'

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
    assert.equal(timestampFor(attribute, 1795221303411), stamp)
    assert.equal(attribute.type.parse(timestampFor(attribute, 1795221303411)), stamp)
  })
}

const years = { min: new Date('0001-01-01T00:00:00.000Z'), max: new Date('9999-12-31T23:59:59.999Z') }
const moments = fc.date({ ...years, noInvalidDate: true })

test('isoTime returns the text of Date', () => {
  for (const edge of ['min', 'max'] as const) assert.equal(isoTime(years[edge].getTime()), years[edge].toISOString())
  for (const text of ['2000-02-29', '1900-03-01', '2100-02-28', '1969-12-31', '0004-02-29', '1600-12-31']) {
    assert.equal(isoTime(Date.parse(text)), new Date(text).toISOString())
  }
  fc.assert(
    fc.property(moments, (date) => assert.equal(isoTime(date.getTime()), date.toISOString())),
    { numRuns: 2000 },
  )
})

test('isIsoTime accepts exactly the texts that Date writes', () => {
  const isWritten = (text: string): boolean => {
    const date = new Date(text)
    return !Number.isNaN(date.getTime()) && date.getTime() >= years.min.getTime() && date.toISOString() === text
  }
  // Valid texts with one character replaced: the cases that are hardest to distinguish.
  const damaged = fc
    .tuple(moments, fc.nat(23), fc.constantFrom(...'0123456789-:.TZ +'))
    .map(([date, at, sign]) => `${date.toISOString().slice(0, at)}${sign}${date.toISOString().slice(at + 1)}`)
  const seen = new Set<boolean>()
  fc.assert(
    fc.property(damaged, (text) => {
      seen.add(isWritten(text))
      assert.equal(isIsoTime(text), isWritten(text))
    }),
    { numRuns: 5000 },
  )
  assert.equal(seen.size, 2)
})

test('the fast and the general path of datetime agree', () => {
  const datetime = attributeTypes.find(({ name }) => name === 'datetime')!
  fc.assert(
    fc.property(moments, (date) => {
      const text = date.toISOString()
      assert.equal(datetime.parse(text), text)
      assert.equal(datetime.parse(text.replace('Z', '+00:00')), text)
      assert.equal(datetime.parse(date.getTime()), text)
    }),
  )
})
