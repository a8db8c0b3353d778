import type { AttributeType } from '../attribute-type.ts'
import { parseNumber } from '../parse-number.ts'

/** Few enough digits to be safe. */
const digits = /^\d{1,15}$/

/** A safe integer of JavaScript; larger integers need `bigint`. */
export const integer: AttributeType = {
  name: 'integer',
  noun: 'an integer',
  storedAs: 'integer',
  ordered: true,
  parse(raw) {
    if (typeof raw === 'string' && digits.test(raw)) return Number(raw) // the key in a path
    const number = parseNumber(raw)
    return Number.isSafeInteger(number) ? number : undefined
  },
}
