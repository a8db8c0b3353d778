import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isIsoTime, isoTime } from './iso-time.ts'
import { attributeTypes } from './types.ts'

const years = { min: new Date('0001-01-01T00:00:00.000Z'), max: new Date('9999-12-31T23:59:59.999Z') }
const moments = fc.date({ ...years, noInvalidDate: true })

test('isoTime says what Date says', () => {
  for (const edge of ['min', 'max'] as const) assert.equal(isoTime(years[edge].getTime()), years[edge].toISOString())
  for (const text of ['2000-02-29', '1900-03-01', '2100-02-28', '1969-12-31', '0004-02-29', '1600-12-31']) {
    assert.equal(isoTime(Date.parse(text)), new Date(text).toISOString())
  }
  fc.assert(
    fc.property(moments, (date) => assert.equal(isoTime(date.getTime()), date.toISOString())),
    { numRuns: 2000 },
  )
})

test('isIsoTime accepts exactly what Date would write again', () => {
  const isWritten = (text: string): boolean => {
    const date = new Date(text)
    return !Number.isNaN(date.getTime()) && date.getTime() >= years.min.getTime() && date.toISOString() === text
  }
  // A digit or a sign of a true one replaced: nearly right is what must be told apart.
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

test('the short way through datetime and the long way agree', () => {
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
