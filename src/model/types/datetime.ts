import type { AttributeType } from '../attribute-type.ts'
import { daysOf, isIsoTime, isoTime } from '../timestamp.ts'

const isoForm =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)?)?$/

/** Years have four digits, so that texts sort like times. There is no year 0. */
const earliest = Date.parse('0001-01-01T00:00:00.000Z')
const latest = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * A time in ISO 8601, UTC, with milliseconds: '2026-11-21T03:00:00.123Z'. Input without a time zone is UTC, never the zone
 * of the machine; digits beyond milliseconds are truncated; a number is milliseconds since 1970.
 */
export const datetime: AttributeType = {
  name: 'datetime',
  noun: 'a date and time in ISO 8601',
  storedAs: 'timestamp',
  ordered: true,
  parse(raw) {
    if (typeof raw === 'string' && isIsoTime(raw)) return raw
    const ms = typeof raw === 'string' ? millisecondsOf(raw) : Number.isInteger(raw) ? (raw as number) : undefined
    return ms !== undefined && ms >= earliest && ms <= latest ? isoTime(ms) : undefined
  },
}

function millisecondsOf(text: string): number | undefined {
  const match = isoForm.exec(text)
  if (!match) return undefined
  const part = (index: number): number => Number(match[index] ?? 0)
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)]
  const [offsetHours, offsetMinutes] = [part(9), part(10)]
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 59 || offsetHours > 23 || offsetMinutes > 59) return undefined

  // `setUTCFullYear`, because `Date.UTC` interprets the year 26 as 1926.
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second, Number((match[7] ?? '').slice(0, 3).padEnd(3, '0')))

  const offsetMs = (offsetHours * 60 + offsetMinutes) * 60_000
  return date.getTime() - (match[8] === '-' ? -offsetMs : offsetMs)
}
