import type { AttributeType } from '../attribute-type.ts'
import { parseNumber } from '../parse-number.ts'

/** Only those that JavaScript holds exactly; larger ones are `bigint`. */
export const integer: AttributeType = {
  name: 'integer',
  noun: 'a whole number',
  storedAs: 'integer',
  ordered: true,
  parse(raw) {
    const number = parseNumber(raw)
    return Number.isSafeInteger(number) ? number : undefined
  },
}
