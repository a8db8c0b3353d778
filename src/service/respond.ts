import type { Outcome } from '../operation/operation.ts'
import { problem, ServiceError } from '../protocol/errors.ts'
import { EncodedJson } from '../protocol/json.ts'
import type { ServiceRequest, ServiceResponse } from '../protocol/request.ts'
import { encodeList } from '../storage/store.ts'
import { entityTag, isKnown } from './entity-tag.ts'
import type { Match } from './route.ts'
import { isAlsoStreamed } from './stream.ts'

/** What was done, as an answer. */
export function respond(outcome: Outcome, request: ServiceRequest, { style, operation }: Match): ServiceResponse {
  const { kind, records, stored, total, next } = outcome
  const encoded = kind === 'list' ? encodeList(records) : records.encodeAt(0)
  const headers: Record<string, string> = { ETag: entityTag(encoded, stored, stored !== records) }
  if (isAlsoStreamed(operation)) headers.Vary = 'Accept'
  if (total !== undefined) headers['X-Total-Count'] = String(total)
  if (next !== undefined) headers.Link = `<${nextPage(request, next)}>; rel="next"`
  if (operation.effect === 'reads') {
    if (isKnown(headers.ETag as string, request.headers['if-none-match'])) return { status: 304, headers }
  } else if (style === 'shortcut') headers['Cache-Control'] = 'no-store' // a GET that wrote must never be answered from a cache
  return { status: kind === 'created' ? 201 : 200, headers, body: new EncodedJson(encoded) }
}

/** The same question, from where this page ends. */
function nextPage({ base = '', path, query }: ServiceRequest, cursor: string): string {
  const kept = needsCare.test(query) ? withoutPlace(query) : query
  return `${base}${path}?${kept === '' ? '' : `${kept}&`}cursor=${cursor}`
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

/** An error as an answer. One that was not meant for whoever asked is reported instead, and says nothing of itself. */
export function fail(error: unknown, report: (error: unknown) => void): ServiceResponse {
  const told =
    error instanceof ServiceError ? error : new ServiceError('E_INTERNAL', 'Something went wrong on our side')
  if (!(error instanceof ServiceError)) report(error)
  return {
    status: told.status,
    headers: { 'Content-Type': 'application/problem+json; charset=utf-8', ...told.details.headers },
    body: problem(told),
  }
}
