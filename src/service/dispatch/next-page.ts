import { boundCursor } from '../../operation/bound-cursor.ts'
import { count, isCountFlag, listParameters, namesOf, noParameters, reserved } from '../../operation/parameters.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import { parseQueryString } from '../../protocol/query-string.ts'
import type { ServiceRequest } from '../../protocol/request.ts'

/** The parts of a request for a list on which the address of its next page depends. */
export type ListRequest = Pick<ServiceRequest, 'base' | 'path' | 'query' | 'body'>

/** In characters. Proxies read the headers of an answer into four kilobytes, Node's clients into sixteen. */
const longestAddress = 3_000

/** The same question, from where this page ends. Where its address is too long, it has a cursor that is bound to the other parameters. */
export function nextPage({ base = '', path, query, body }: ListRequest, cursor: string): string {
  const given = isJsonObject(body) ? body : noParameters
  const asked = Object.keys(given).length > 0 ? withBody(query, given) : query
  const kept = needsCare.test(asked) ? withoutPlace(asked) : asked
  const address = `${base}${path}?${kept === '' ? '' : `${kept}&`}cursor=${cursor}`
  if (address.length <= longestAddress) return address
  return `${base}${path}?cursor=${boundCursor(cursor, { query: parseQueryString(query, unlimited), body: given })}`
}

/** Names a place already, or holds what would end the link. */
const needsCare = /(?:^|&)(?:cursor|skip)=|[<>]/

const withoutPlace = (query: string): string =>
  query
    .split('&')
    .filter((pair) => pair !== '' && !/^(?:cursor|skip)=/.test(pair))
    .join('&')
    .replaceAll('>', '%3E')
    .replaceAll('<', '%3C')

/** The query string was parsed before, within the limits of the service. */
const unlimited = { maxParameters: 2 ** 31, maxParameterDepth: 2 ** 31 }
const listNames = namesOf(listParameters)

/** A link has no body: its query string has the parameters of both. Filters by attribute become a `where`, which has types. */
function withBody(query: string, body: JsonObject): string {
  const given: JsonObject = { ...parseQueryString(query, unlimited), ...body }
  const isFilter = (name: string, value: Json): boolean =>
    !reserved.has(name) || (name === count.name && !isCountFlag(value))
  const filters = Object.entries(given).filter(([name, value]) => isFilter(name, value))
  const where = filters.length > 0 ? { where: Object.fromEntries(filters) } : {}
  return Object.entries({ ...where, ...given })
    .filter(([name, value]) => listNames.has(name) && !isFilter(name, value))
    .map(([name, value]) => `${name}=${encodeURIComponent(textOf(name, value))}`)
    .join('&')
}

const textOf = (name: string, value: Json): string =>
  typeof value === 'string'
    ? value
    : Array.isArray(value) && separatedByCommas.has(name)
      ? value.join()
      : JSON.stringify(value)

/** Lists of names are separated by commas in a query string, others are JSON. */
const separatedByCommas: ReadonlySet<string> = new Set(['select', 'omit', 'populate'])
