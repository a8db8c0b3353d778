import type { AttributeType } from '../attribute-type.ts'
import { parseNumber } from '../parse-number.ts'

export const number: AttributeType = {
  name: 'number',
  noun: 'a number',
  storedAs: 'real',
  ordered: true,
  parse: parseNumber,
}
