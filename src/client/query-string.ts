import type { Json } from '../protocol/json.ts'

/** The options of a request as a query string. */
export function queryString(query: object = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return `?${given.map(([name, value]) => `${name}=${encodeURIComponent(textOf(name, value as Json))}`).join('&')}`
}

function textOf(name: string, value: Json): string {
  if (Array.isArray(value) && name !== 'sort') return value.length === 0 && name === 'populate' ? 'false' : value.join()
  return typeof value === 'string' ? value : JSON.stringify(value)
}
