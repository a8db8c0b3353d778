import type { Json } from '../protocol/json.ts'

/** A finite number, or its text in a form or query string: '25.0', '1e3', '0x10'. Blank text is not a number. */
export function parseNumber(raw: Json): number | undefined {
  if (typeof raw === 'boolean') return raw ? 1 : 0
  const number = typeof raw === 'string' ? fromText(raw) : raw
  // Adding zero turns negative zero, which databases do not store, into zero.
  return typeof number === 'number' && Number.isFinite(number) ? number + 0 : undefined
}

const fromText = (raw: string): number | undefined => (raw !== '' && raw === raw.trim() ? Number(raw) : undefined)
