import type { AttributeType } from '../attribute-type.ts'

const pattern = /^[A-Za-z0-9+/]*={0,2}$/

/** Unused bits of the last character must be zero, so that equal bytes have one representation. */
const lastBeforePadding = { 1: /[AEIMQUYcgkosw048]=$/, 2: /[AQgw]==$/ }

/** Bytes, as padded base64. */
export const binary: AttributeType = {
  name: 'binary',
  noun: 'base64',
  storedAs: 'binary',
  ordered: false,
  parse(raw) {
    if (typeof raw !== 'string' || raw.length % 4 !== 0 || !pattern.test(raw)) return undefined
    if (raw.endsWith('==')) return lastBeforePadding[2].test(raw) ? raw : undefined
    return raw.endsWith('=') && !lastBeforePadding[1].test(raw) ? undefined : raw
  },
}
