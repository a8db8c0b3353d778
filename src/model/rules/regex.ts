import type { RuleKind } from '../rules.ts'

export const regex: RuleKind = {
  name: 'regex',
  fits: ['text'],
  make({ regex }) {
    if (regex === undefined) return undefined
    if (regex.global || regex.sticky) {
      return `\`regex\` ${regex} has the flag ${regex.global ? 'g' : 'y'}: it would remember where the last value ended`
    }
    const message = `must match ${regex}`
    return {
      name: 'regex',
      expects: String(regex),
      check: (value) => (regex.test(value as string) ? undefined : message),
    }
  },
}
