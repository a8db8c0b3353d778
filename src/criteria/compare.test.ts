import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainAttribute } from '../model/model.ts'
import { bigint } from '../model/types/bigint.ts'
import { boolean } from '../model/types/boolean.ts'
import { number } from '../model/types/number.ts'
import { compareValues } from './compare.ts'

for (const { type, ascending } of [
  { type: bigint, ascending: [null, '-9223372036854775808', '1', '1.5', '2', '9007199254740993', '', '12a', 'many'] },
  { type: number, ascending: [null, -1, 0.5, 7, '', '12a', 'many'] },
  { type: boolean, ascending: [null, false, true, 'f', 't'] },
])
  test(`numbers come before the texts that another program has stored for a ${type.name}`, () => {
    const attribute = plainAttribute('value', type)
    for (const [index, value] of ascending.entries())
      for (const [otherIndex, other] of ascending.entries())
        assert.equal(
          Math.sign(compareValues(value, other, attribute)),
          Math.sign(index - otherIndex),
          `${value} ${other}`,
        )
  })
