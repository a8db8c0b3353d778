import { characters, countCodePoints } from '../code-points.ts'
import type { RuleKind } from '../rules.ts'

export const minLength: RuleKind = {
  name: 'minLength',
  fits: ['text'],
  make({ minLength }) {
    if (minLength === undefined) return undefined
    if (!Number.isSafeInteger(minLength) || minLength < 0) return '`minLength` is a whole number, 0 or more'
    const message = `must have at least ${characters(minLength)}`
    return {
      name: 'minLength',
      expects: minLength,
      check(value) {
        const { length } = value as string
        // A character is one unit or two, so most texts need no counting.
        if (length >= 2 * minLength) return undefined
        return length < minLength || countCodePoints(value as string) < minLength ? message : undefined
      },
    }
  },
}
