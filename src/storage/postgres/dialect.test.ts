import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Selection } from '../../criteria/criteria.ts'
import { isIn } from '../../criteria/operators/in.ts'
import { defineModels } from '../../model/define.ts'
import type { Attribute } from '../../model/model.ts'
import { compileEncoder } from '../encoder.ts'
import { postgresDialect } from './dialect.ts'

const models = defineModels({ visit: { attributes: { reason: { type: 'string' } } } })
const time = models.get('visit')?.attributes.get('createdAt') as Attribute
const selection: Selection = [time]

test('times are encoded as they are decoded, with each fraction, zone, year and era', () => {
  const encoder = compileEncoder(selection, postgresDialect(), new Set())
  const fractions = ['', '.5', '.51', '.512', '.5123', '.51234', '.512345', '.05', '.005', '.000001']
  for (const date of ['2025-06-15', '0044-03-15', '12025-06-15', '294276-12-31'])
    for (const fraction of fractions)
      for (const zone of ['+00', ''])
        for (const era of ['', ' BC']) {
          const text = `${date} 15:06:41${fraction}${zone}${era}`
          assert.deepEqual(JSON.parse(`${encoder.encodeOpen([text])}}`), encoder.decode([text]), text)
        }
  for (const text of ['infinity', '-infinity', '2025-06-15'])
    assert.deepEqual(JSON.parse(`${encoder.encodeOpen([text])}}`), encoder.decode([text]), text)
})

test('a list of one value is compared as the value, so that an index serves an order as well', () => {
  const name = models.get('visit')?.attributes.get('reason') as Attribute
  const textOf = (values: readonly string[]) => isIn.sql('"reason"', values, name, postgresDialect()).parts.join('?')
  assert.equal(textOf(['fever']), '"reason" = ?')
  assert.equal(textOf(['fever', 'cough']), '"reason" = any(?)')
  assert.equal(textOf([]), '1 = 0')
})
