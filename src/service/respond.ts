import type { Outcome } from '../operation/operation.ts'
import { problem, ServiceError } from '../protocol/errors.ts'
import type { ServiceResponse } from '../protocol/request.ts'

const none: Readonly<Record<string, string>> = Object.freeze({})
/** A GET that wrote must never be answered from a cache. */
const noStore: Readonly<Record<string, string>> = Object.freeze({ 'Cache-Control': 'no-store' })

export function respond({ kind, records }: Outcome, wroteByGet: boolean): ServiceResponse {
  return {
    status: kind === 'created' ? 201 : 200,
    headers: wroteByGet ? noStore : none,
    body: kind === 'list' ? records.encode() : records.encodeFirst(),
  }
}

/** An error as an answer. One that was not meant for whoever asked is reported instead, and says nothing of itself. */
export function fail(error: unknown, report: (error: unknown) => void): ServiceResponse {
  const told = error instanceof ServiceError ? error : new ServiceError('E_INTERNAL', 'Something went wrong on our side')
  if (!(error instanceof ServiceError)) report(error)
  return {
    status: told.status,
    headers: { 'Content-Type': 'application/problem+json; charset=utf-8', ...told.details.headers },
    body: problem(told),
  }
}
