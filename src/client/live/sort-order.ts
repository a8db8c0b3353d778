import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import { isComposite } from '../same.ts'

type Compare = (a: JsonObject, b: JsonObject) => number

/** The terms of a sort order: `name DESC, age`, a list of terms, or `{ name: -1 }`. */
function termsOf(sort: Json | undefined): readonly (readonly [path: readonly string[], sign: number])[] {
  if (Array.isArray(sort)) return sort.flatMap(termsOf)
  const words = isJsonObject(sort)
    ? Object.entries(sort)
    : typeof sort === 'string'
      ? sort.split(',').map((term) => term.trim().split(/ +/))
      : []
  return words.map(([name = '', way]) => [name.split('.'), /-1|DESC/i.test(way as string) ? -1 : 1])
}

/** The order of records: nulls first, and equal ones by their key. Attributes that a record does not contain are equal. */
export function sortOrder(sort: Json | undefined, key: string): Compare {
  const terms = [...termsOf(sort), [[key], 1] as const]
  return (a, b) => {
    for (const [path, sign] of terms) {
      const [left, right] = [at(a, path), at(b, path)]
      if (left === right || left === undefined || right === undefined) continue
      // A temporary id is a text, and behind all numbers.
      return sign * (left === null ? -1 : right === null ? 1 : left < right || typeof left < typeof right ? -1 : 1)
    }
    return 0
  }
}

function at(record: JsonObject, path: readonly string[]): string | null | undefined {
  let value: Json | undefined = record
  for (const name of path) value = isJsonObject(value) ? value[name] : undefined
  return isComposite(value) ? undefined : (value as string | null | undefined)
}
