import type { StorageClass } from '../model/attribute-type.ts'
import type { Attribute } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'

/** Compares two values of an attribute in the order of every database. Null comes before all values. */
export function compareValues(a: Json, b: Json, attribute: Attribute): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1
  return compareStored(a, b, attribute.type.storedAs)
}

function compareStored(a: Json, b: Json, storedAs: StorageClass): number {
  if (a === b) return 0
  if (storedAs === 'text') return compareCodePoints(a as string, b as string)
  if (storedAs === 'timestamp' && (isSigned(a) || isSigned(b))) return timeIn(a) < timeIn(b) ? -1 : 1
  const [left, right] = storedAs === 'bigint' ? [numberIn(a as string), numberIn(b as string)] : [a, b]
  // A column of SQLite contains whatever other programs store: numbers come before texts.
  if ((typeof left === 'string') !== (typeof right === 'string')) return typeof left === 'string' ? 1 : -1
  return (left as string | number | boolean) < (right as string | number | boolean) ? -1 : 1
}

/** Years beyond 9999 and before 0 have a sign, so that their texts do not sort like times. So does the least time of PostgreSQL. */
const isSigned = (time: Json): boolean => typeof time === 'string' && (time.startsWith('+') || time.startsWith('-'))

const timeIn = (time: Json): number =>
  /^-?infinity$/.test(String(time)) ? Number(String(time).replace('i', 'I')) : Date.parse(String(time))

/** The text itself where it is no number. */
function numberIn(text: string): bigint | number | string {
  if (integer.test(text)) return BigInt(text)
  return text === '' || Number.isNaN(Number(text)) ? text : Number(text)
}

const integer = /^-?\d+$/

/** Databases compare code points. JavaScript compares UTF-16 units, which differ for characters above U+FFFF. */
function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index)
    const right = b.charCodeAt(index)
    if (left !== right) return isSurrogate(left) === isSurrogate(right) ? left - right : isSurrogate(left) ? 1 : -1
  }
  return a.length - b.length
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff
