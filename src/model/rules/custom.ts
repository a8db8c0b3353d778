import { storageClasses } from '../attribute-type.ts'
import type { RuleKind } from '../rules.ts'

const defaultMessage = 'is invalid'

export const custom: RuleKind = {
  name: 'custom',
  fits: storageClasses,
  make({ custom }) {
    if (custom === undefined) return undefined
    if (custom.constructor.name === 'AsyncFunction') return '`custom` must be synchronous'
    return {
      name: 'custom',
      expects: true,
      check(value) {
        try {
          const result = custom(value)
          if (result === true) return undefined
          return typeof result === 'string' ? result : defaultMessage
        } catch {
          // Functions written for Sails may throw for unexpected values. Their errors are not sent to clients.
          return defaultMessage
        }
      },
    }
  },
}
