import { storageClasses } from '../attribute-type.ts'
import type { RuleKind } from '../rules.ts'

const neutral = 'is not acceptable'

export const custom: RuleKind = {
  name: 'custom',
  fits: storageClasses,
  make({ custom }) {
    if (custom === undefined) return undefined
    if (custom.constructor.name === 'AsyncFunction') return '`custom` must answer at once: its promise is never true'
    return {
      name: 'custom',
      expects: true,
      check(value) {
        try {
          const verdict = custom(value)
          if (verdict === true) return undefined
          return typeof verdict === 'string' ? verdict : neutral
        } catch {
          // Checkers of the ancestor stumble over values they did not expect. What they throw is not for clients.
          return neutral
        }
      },
    }
  },
}
