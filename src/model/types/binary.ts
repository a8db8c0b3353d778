import type { AttributeType } from '../attribute-type.ts'

const form = /^[A-Za-z0-9+/]*={0,2}$/

/** The bits of the last character that padding leaves unused must be zero, or two texts would mean the same bytes. */
const lastBeforePadding = { 1: /[AEIMQUYcgkosw048]=$/, 2: /[AQgw]==$/ }

/** Bytes, as base64 with padding. */
export const binary: AttributeType = {
  name: 'binary',
  noun: 'base64',
  storedAs: 'binary',
  ordered: false,
  parse(raw) {
    if (typeof raw !== 'string' || raw.length % 4 !== 0 || !form.test(raw)) return undefined
    if (raw.endsWith('==')) return lastBeforePadding[2].test(raw) ? raw : undefined
    return raw.endsWith('=') && !lastBeforePadding[1].test(raw) ? undefined : raw
  },
}
