import { linearPattern } from '../linear-pattern.ts'
import type { RuleKind } from '../rules.ts'

export const regex: RuleKind = {
  name: 'regex',
  fits: ['text'],
  make({ regex }) {
    if (regex === undefined) return undefined
    if (regex.global || regex.sticky) {
      return `\`regex\` ${regex} has the flag ${regex.global ? 'g' : 'y'}: it would keep state between values`
    }
    if (regex.unicodeSets) return `\`regex\` ${regex} has the flag v, which is not supported`
    try {
      const test = linearPattern(regex)
      const message = `must match ${regex}`
      return { name: 'regex', expects: String(regex), check: (value) => (test(value as string) ? undefined : message) }
    } catch {
      return `\`regex\` ${regex} cannot be matched in linear time: use \`custom\` for lookahead, lookbehind and back references`
    }
  },
}
