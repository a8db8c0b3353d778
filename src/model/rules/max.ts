import type { RuleKind } from '../rules.ts'

export const max: RuleKind = {
  name: 'max',
  fits: ['integer', 'bigint', 'real'],
  make({ min, max }, type) {
    if (max === undefined) return undefined
    if (min !== undefined && min > max) return `\`min\` ${min} is greater than \`max\` ${max}`
    const message = `must be at most ${max}`
    return {
      name: 'max',
      expects: max,
      check:
        type.storedAs === 'bigint'
          ? (value) => (BigInt(value as string) > max ? message : undefined)
          : (value) => ((value as number) > max ? message : undefined),
    }
  },
}
