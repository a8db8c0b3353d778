import type { Json } from '../protocol/json.ts'

/** A finite number, also out of a form, where it is text: '25.0', '1e3', '0x10'. Blanks are not numbers. */
export function parseNumber(raw: Json): number | undefined {
  if (typeof raw === 'boolean') return raw ? 1 : 0
  const number = typeof raw === 'string' ? fromText(raw) : raw
  // There is no negative zero in a database, and adding zero takes it away.
  return typeof number === 'number' && Number.isFinite(number) ? number + 0 : undefined
}

const fromText = (raw: string): number | undefined => (raw !== '' && raw === raw.trim() ? Number(raw) : undefined)
