import { problem, ServiceError } from './errors.ts'
import type { ServiceResponse } from './request.ts'

/** Receives unexpected errors, whose details are not sent to the client. */
export type ErrorListener = (error: unknown) => void

export const problemType = 'application/problem+json; charset=utf-8'

/** The response to a request that failed. An error other than a ServiceError is reported and becomes E_INTERNAL. */
export function errorResponse(error: unknown, onError: ErrorListener): ServiceResponse {
  if (!(error instanceof ServiceError)) {
    onError(error)
    return errorResponse(new ServiceError('E_INTERNAL', 'Internal server error'), onError)
  }
  return {
    status: error.status,
    headers: { 'Content-Type': problemType, ...error.details.headers },
    body: problem(error),
    ...(error.details.worker !== undefined && { worker: error.details.worker }),
  }
}
