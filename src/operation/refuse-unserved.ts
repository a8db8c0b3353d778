import { ServiceError } from '../protocol/errors.ts'
import { type Parameters, parameter } from './operation.ts'

/** Parameters of the interface that are not served yet. An ignored one would be a wrong answer that looks right. */
export function refuseUnserved(parameters: Parameters): void {
  for (const name of ['count', 'cursor', 'callback']) {
    if (parameter(parameters, name) !== undefined) throw unserved(name)
  }
  const populate = parameter(parameters, 'populate')
  if (populate !== undefined && populate !== 'false' && populate !== false) throw unserved('populate')
}

const unserved = (name: string): ServiceError => new ServiceError('E_BAD_REQUEST', `"${name}" is not served yet`)
