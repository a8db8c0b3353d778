import { isJsonObject, type Json } from './json.ts'

/** The same text for equal values: the members of objects are sorted. */
export const canonicalJson = (value: Json): string =>
  JSON.stringify(value, (_, item: Json) =>
    isJsonObject(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item,
  )
