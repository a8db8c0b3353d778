import { characters, countCodePoints } from '../code-points.ts'
import type { RuleKind } from '../rules.ts'

export const minLength: RuleKind = {
  name: 'minLength',
  fits: ['text'],
  make({ minLength }) {
    if (minLength === undefined) return undefined
    if (!Number.isSafeInteger(minLength) || minLength < 0) return '`minLength` must be an integer of at least 0'
    const message = `must have at least ${characters(minLength)}`
    return {
      name: 'minLength',
      expects: minLength,
      check(value) {
        const { length } = value as string
        // A code point is one or two units, so most texts need no counting.
        if (length >= 2 * minLength) return undefined
        return length < minLength || countCodePoints(value as string) < minLength ? message : undefined
      },
    }
  },
}
