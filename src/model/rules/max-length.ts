import { characters, countCodePoints } from '../code-points.ts'
import type { RuleKind } from '../rules.ts'

export const maxLength: RuleKind = {
  name: 'maxLength',
  fits: ['text'],
  make({ minLength, maxLength }) {
    if (maxLength === undefined) return undefined
    if (!Number.isSafeInteger(maxLength) || maxLength < 0) return '`maxLength` must be an integer of at least 0'
    if (minLength !== undefined && minLength > maxLength) {
      return `\`minLength\` ${minLength} is greater than \`maxLength\` ${maxLength}`
    }
    const message = `must have at most ${characters(maxLength)}`
    return {
      name: 'maxLength',
      expects: maxLength,
      check(value) {
        const { length } = value as string
        // A code point is one or two units, so most texts need no counting.
        if (length <= maxLength) return undefined
        return length > 2 * maxLength || countCodePoints(value as string) > maxLength ? message : undefined
      },
    }
  },
}
