import type { Json } from '../../protocol/json.ts'

/** Date, time, fraction and zone, in the forms that programs store in SQLite. */
const form = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(\.\d+)?)?\s*(Z|[+-]\d\d:?\d\d)?$/i

/** The form that Keelson writes. */
const canonical = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** A stored time in the form of the API; a value that is no time is returned unchanged. */
export function canonicalTimestamp(value: unknown): Json {
  if (typeof value === 'number' || typeof value === 'bigint') return iso(Number(value)) ?? Number(value)
  const text = String(value)
  if (canonical.test(text)) return text
  const found = form.exec(text)
  if (!found) return text
  const [, date, time = '00:00:00', fraction = '', zone = 'Z'] = found
  const seconds = time.length === 5 ? `${time}:00` : time
  return iso(Date.parse(`${date}T${seconds}${fraction.slice(0, 4)}${zone.toUpperCase()}`)) ?? text
}

const iso = (ms: number): string | undefined => (Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : undefined)
