import { problem, ServiceError } from '../../protocol/errors.ts'
import type { ServiceResponse } from '../../protocol/request.ts'

/** Told of what nobody expected: the client only hears that something went wrong. */
export type Report = (error: unknown) => void

export const reportToConsole: Report = (error) => console.error(error)

export const problemType = 'application/problem+json'

/** The answer to a request that failed. */
export function failure(error: unknown, report: Report): ServiceResponse {
  if (error instanceof ServiceError) {
    return {
      status: error.status,
      headers: { 'Content-Type': problemType, ...error.details.headers },
      body: problem(error),
    }
  }
  report(error)
  return failure(new ServiceError('E_INTERNAL', 'The cause is known to those who run this service'), report)
}
