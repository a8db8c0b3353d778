import type { AttributeType } from '../attribute-type.ts'
import { isStorableText } from '../storable.ts'

export const text: AttributeType = {
  name: 'text',
  noun: 'a string',
  storedAs: 'text',
  ordered: true,
  parse(raw) {
    if (typeof raw === 'string') return isStorableText(raw) ? raw : undefined
    if (typeof raw === 'number') return Number.isFinite(raw) ? String(raw) : undefined
    return typeof raw === 'boolean' ? String(raw) : undefined
  },
}
