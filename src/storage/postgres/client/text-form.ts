import type { Json } from '../../../protocol/json.ts'

/** Date, time, fraction, zone and era, as PostgreSQL prints them in the ISO style and UTC. */
const timeForm = /^(\d{4,})-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)(?:\.(\d+))?)?(?:\+00(?::?00)?)?( BC)?$/

/** A timestamp as PostgreSQL prints it, in the form of the API; `infinity` is returned unchanged. */
export function timestampOf(text: string): string {
  const found = timeForm.exec(text)
  if (!found) return text
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', era] = found
  if (era !== undefined || (year as string).length > 4)
    return outsideYears(found.slice(1, 8), era !== undefined) ?? text
  return `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
}

function outsideYears(parts: readonly (string | undefined)[], isBefore: boolean): string | undefined {
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts.map((part) => Number(part ?? 0))
  const date = new Date(0)
  date.setUTCFullYear(isBefore ? 1 - year : year, month - 1, day)
  date.setUTCHours(hour, minute, second, Number((parts[6] ?? '').slice(0, 3).padEnd(3, '0')))
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

/** JSON has no NaN and no infinities. */
export function numberOf(text: string): Json {
  const number = Number(text)
  return Number.isFinite(number) ? number : null
}

/** The hexadecimal form of bytes as base64. */
export const base64Of = (text: string): string =>
  text.startsWith('\\x') ? Buffer.from(text.slice(2), 'hex').toString('base64') : text

/** A text column used for JSON may hold text that is not JSON, which is returned as a string. */
export function jsonOf(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** An array literal, so that a list of any length is one parameter. */
export function arrayOf(items: readonly string[]): string {
  let text = '{'
  for (let index = 0; index < items.length; index++) {
    const item = items[index] as string
    const isPlain = !item.includes('"') && !item.includes('\\')
    text += `${index === 0 ? '"' : ',"'}${isPlain ? item : item.replace(/["\\]/g, '\\$&')}"`
  }
  return `${text}}`
}

/** A text literal, independent of `standard_conforming_strings`. */
export function literalOf(text: string): string {
  const quoted = text.replaceAll("'", "''")
  return text.includes('\\') ? ` E'${quoted.replaceAll('\\', '\\\\')}'` : `'${quoted}'`
}

export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`
