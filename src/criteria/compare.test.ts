import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AttributeType } from '../model/attribute-type.ts'
import { plainAttribute } from '../model/model.ts'
import { bigint } from '../model/types/bigint.ts'
import { boolean } from '../model/types/boolean.ts'
import { datetime } from '../model/types/datetime.ts'
import { number } from '../model/types/number.ts'
import type { Json } from '../protocol/json.ts'
import { compareValues } from './compare.ts'

function assertAscending(ascending: readonly Json[], type: AttributeType): void {
  const attribute = plainAttribute('value', type)
  for (const [index, value] of ascending.entries())
    for (const [otherIndex, other] of ascending.entries())
      assert.equal(
        Math.sign(compareValues(value, other, attribute)),
        Math.sign(index - otherIndex),
        `${value} ${other}`,
      )
}

for (const { type, ascending } of [
  { type: bigint, ascending: [null, '-9223372036854775808', '1', '1.5', '2', '9007199254740993', '', '12a', 'many'] },
  { type: number, ascending: [null, -1, 0.5, 7, '', '12a', 'many'] },
  { type: boolean, ascending: [null, false, true, 'f', 't'] },
])
  test(`numbers come before the texts that another program has stored for a ${type.name}`, () => {
    assertAscending(ascending, type)
  })

test('times of other programs beyond the years 1 to 9999 come before and after all others', () => {
  const [bc, ad] = ['-000043-03-15T00:00:00.000Z', '-000042-01-01T00:00:00.000Z']
  const ascending = [
    '-infinity',
    bc,
    ad,
    '0000-01-01T00:00:00.000Z',
    '2026-11-28T00:00:00.000Z',
    '+020226-11-28T00:00:00.000Z',
    'infinity',
  ]
  assertAscending(ascending, datetime)
})
