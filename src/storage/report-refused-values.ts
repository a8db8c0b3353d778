import { ServiceError } from '../protocol/errors.ts'
import type { Observe } from '../support/observation.ts'
import { reasonOf } from './to-service-error.ts'

/** Reports each attribute once whose column has refused a value that the model accepts. */
export function reportRefusedValues(observe: Observe): (error: unknown) => void {
  const reported = new Set<string>()
  return (error) => {
    if (!(error instanceof ServiceError) || reasonOf(error)?.kind !== 'value') return
    const { model, invalidAttributes = {} } = error.details
    const [attribute] = Object.keys(invalidAttributes)
    if (model === undefined || attribute === undefined || reported.has(`${model}.${attribute}`)) return
    reported.add(`${model}.${attribute}`)
    observe({ kind: 'valueRefused', model, attribute })
  }
}
