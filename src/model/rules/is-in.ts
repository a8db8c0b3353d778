import { inspect } from 'node:util'
import type { Json } from '../../protocol/json.ts'
import type { RuleKind } from '../rules.ts'

/** A message is read by a person. */
const mostNamed = 20

export const isIn: RuleKind = {
  name: 'isIn',
  fits: ['text', 'integer', 'bigint', 'real', 'boolean'],
  make({ isIn }, type) {
    if (isIn === undefined) return undefined
    if (isIn.length === 0) return '`isIn` is empty: no value would be allowed'
    const allowed = new Set<Json>()
    for (const item of isIn) {
      const value = item === null ? undefined : type.parse(item)
      if (value === undefined) return `\`isIn\` holds ${inspect(item)}, which is not ${type.noun}`
      allowed.add(value)
    }
    const values = [...allowed]
    const named = values.slice(0, mostNamed).map((value) => JSON.stringify(value))
    const message = `must be one of ${named.join(', ')}${values.length > mostNamed ? ', …' : ''}`
    return { name: 'isIn', expects: values, check: (value) => (allowed.has(value) ? undefined : message) }
  },
}
