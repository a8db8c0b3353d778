import type { RuleKind } from '../rules.ts'

export const min: RuleKind = {
  name: 'min',
  fits: ['integer', 'bigint', 'real'],
  make({ min }, type) {
    if (min === undefined) return undefined
    const message = `must be at least ${min}`
    return {
      name: 'min',
      expects: min,
      check:
        type.storedAs === 'bigint'
          ? (value) => (BigInt(value as string) < min ? message : undefined)
          : (value) => ((value as number) < min ? message : undefined),
    }
  },
}
