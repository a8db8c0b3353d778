import { inspect } from 'node:util'
import type { Json } from '../../protocol/json.ts'
import type { RuleKind } from '../rules.ts'

/** Values listed in the message. */
const maxListed = 20

export const isIn: RuleKind = {
  name: 'isIn',
  fits: ['text', 'integer', 'bigint', 'real', 'boolean'],
  make({ isIn }, type) {
    if (isIn === undefined) return undefined
    if (isIn.length === 0) return '`isIn` must not be empty'
    const allowed = new Set<Json>()
    for (const item of isIn) {
      const value = item === null ? undefined : type.parse(item)
      if (value === undefined) return `\`isIn\` contains ${inspect(item)}, which is not ${type.noun}`
      allowed.add(value)
    }
    const values = [...allowed]
    const listed = values.slice(0, maxListed).map((value) => JSON.stringify(value))
    const message = `must be one of ${listed.join(', ')}${values.length > maxListed ? ', …' : ''}`
    return { name: 'isIn', expects: values, check: (value) => (allowed.has(value) ? undefined : message) }
  },
}
