import type { AttributeType } from '../attribute-type.ts'

const smallest = -(2n ** 63n)
const largest = 2n ** 63n - 1n

/** Leading zeros are removed before the conversion, whose cost is quadratic in the length. */
const digits = /^([+-]?)0*(\d{1,19})$/

/** A whole number of 64 bits, as decimal text: JSON numbers are exact up to 2^53 only. */
export const bigint: AttributeType = {
  name: 'bigint',
  noun: 'a 64-bit integer',
  storedAs: 'bigint',
  ordered: true,
  parse(raw) {
    if (typeof raw === 'number') return Number.isSafeInteger(raw) ? String(raw) : undefined
    const match = typeof raw === 'string' ? digits.exec(raw) : null
    if (!match) return undefined
    const value = match[1] === '-' ? -BigInt(match[2] as string) : BigInt(match[2] as string)
    return value >= smallest && value <= largest ? String(value) : undefined
  },
}
