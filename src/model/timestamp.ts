import type { Json } from '../protocol/json.ts'
import { unreachable } from '../support/assert.ts'
import type { Attribute } from './model.ts'

/** A time in the form that the attribute stores: ISO 8601, or milliseconds for a number. */
export function timestampFor(attribute: Attribute, atMs: number): Json {
  const { storedAs } = attribute.type
  switch (storedAs) {
    case 'timestamp':
    case 'text':
      return isoTime(atMs)
    case 'integer':
    case 'real':
      return atMs
    case 'bigint':
      return String(atMs)
    default:
      return unreachable(storedAs as never)
  }
}

const msPerDay = 86_400_000

/** '00' to '99'. */
const two = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'))

/**
 * `Date#toISOString` for the years 1 to 9999, at a fifth of its cost: every create and update formats a time. Years start
 * in March, so that the leap day is the last day of a year (Hinnant, chrono algorithms).
 */
export function isoTime(atMs: number): string {
  const day = Math.floor(atMs / msPerDay)
  const ms = atMs - day * msPerDay
  const shifted = day + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const dayOfMonth = dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)

  const second = Math.floor(ms / 1000)
  const minute = Math.floor(second / 60)
  const date = `${two[Math.floor(year / 100)]}${two[year % 100]}-${two[month]}-${two[dayOfMonth]}`
  const time = `${two[Math.floor(minute / 60)]}:${two[minute % 60]}:${two[second % 60]}`
  const rest = ms % 1000
  return `${date}T${time}.${Math.floor(rest / 100)}${two[rest % 100]}Z`
}

/** Whether the text is in the form of `isoTime`, '2026-11-21T03:00:00.123Z', and the day exists. */
export function isIsoTime(text: string): boolean {
  if (text.length !== 24 || text[4] !== '-' || text[7] !== '-' || text[10] !== 'T' || text[13] !== ':') return false
  if (text[16] !== ':' || text[19] !== '.' || text[23] !== 'Z') return false
  const century = digits(text, 0)
  const yearOfCentury = digits(text, 2)
  const month = digits(text, 5)
  const day = digits(text, 8)
  if (century < 0 || yearOfCentury < 0 || century + yearOfCentury === 0) return false
  if (month < 1 || month > 12 || day < 1 || day > daysOf(century * 100 + yearOfCentury, month)) return false
  return (
    isWithin(digits(text, 11), 23) &&
    isWithin(digits(text, 14), 59) &&
    isWithin(digits(text, 17), 59) &&
    digits(text, 20) >= 0 &&
    digits(text, 21) >= 0
  )
}

const isWithin = (number: number, last: number): boolean => number >= 0 && number <= last

/** The number of the two digits at `index`, or -1. */
function digits(text: string, index: number): number {
  const tens = text.charCodeAt(index) - 48
  const ones = text.charCodeAt(index + 1) - 48
  return tens < 0 || tens > 9 || ones < 0 || ones > 9 ? -1 : tens * 10 + ones
}

export function daysOf(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
