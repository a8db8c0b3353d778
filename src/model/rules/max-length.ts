import { characters, countCodePoints } from '../code-points.ts'
import type { RuleKind } from '../rules.ts'

export const maxLength: RuleKind = {
  name: 'maxLength',
  fits: ['text'],
  make({ minLength, maxLength }) {
    if (maxLength === undefined) return undefined
    if (!Number.isSafeInteger(maxLength) || maxLength < 0) return '`maxLength` is a whole number, 0 or more'
    if (minLength !== undefined && minLength > maxLength) {
      return `\`minLength\` ${minLength} is larger than \`maxLength\` ${maxLength}`
    }
    const message = `must have at most ${characters(maxLength)}`
    return {
      name: 'maxLength',
      expects: maxLength,
      check(value) {
        const { length } = value as string
        // A character is one unit or two, so most texts need no counting.
        if (length <= maxLength) return undefined
        return length > 2 * maxLength || countCodePoints(value as string) > maxLength ? message : undefined
      },
    }
  },
}
