import type { AttributeType } from '../attribute-type.ts'

export const boolean: AttributeType = {
  name: 'boolean',
  noun: 'true or false',
  storedAs: 'boolean',
  ordered: true,
  parse(raw) {
    if (raw === true || raw === 'true' || raw === 1 || raw === '1') return true
    return raw === false || raw === 'false' || raw === 0 || raw === '0' ? false : undefined
  },
}
