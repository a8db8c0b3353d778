import type { AttributeType } from '../attribute-type.ts'
import { isStorableText, maxJsonDepth } from '../storable.ts'

/** Any JSON value. A text is a JSON string and is not parsed here. */
export const json: AttributeType = {
  name: 'json',
  noun: 'JSON',
  storedAs: 'json',
  ordered: false,
  parse: (raw) => (isStorable(raw, maxJsonDepth) ? raw : undefined),
}

function isStorable(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return isStorableText(value)
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'boolean' || value === null) return true
  if (typeof value !== 'object' || depth === 0) return false
  if (Array.isArray(value)) {
    for (const item of value) if (!isStorable(item, depth - 1)) return false
    return true
  }
  if (!isPlain(value)) return false
  // Without a list of the names, which takes longer than the checks.
  for (const name in value) {
    if (!isStorableText(name) || !isStorable((value as Record<string, unknown>)[name], depth - 1)) return false
  }
  return true
}

/** A plain object of any realm. A Date, Map or Buffer is refused: JSON would not preserve it. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
