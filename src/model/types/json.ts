import type { AttributeType } from '../attribute-type.ts'
import { isStorableText } from '../storable-text.ts'

/** Deeper than any transport lets through; it ends the walk over a value of this program that contains itself. */
const deepest = 1000

/** Any JSON. Text stays text: whoever reads a form, where everything is text, decides whether to parse it. */
export const json: AttributeType = {
  name: 'json',
  noun: 'JSON',
  storedAs: 'json',
  ordered: false,
  parse: (raw) => (isStorable(raw, deepest) ? raw : undefined),
}

function isStorable(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return isStorableText(value)
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'boolean' || value === null) return true
  if (typeof value !== 'object' || depth === 0) return false
  if (Array.isArray(value)) return value.every((item) => isStorable(item, depth - 1))
  if (!isPlain(value)) return false
  for (const [name, member] of Object.entries(value)) {
    if (!isStorableText(name) || !isStorable(member, depth - 1)) return false
  }
  return true
}

/** Neither a Date nor a Map nor a Buffer: what JSON makes of those is not what was given. Of any realm. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
