import type { Condition } from '../criteria/criteria.ts'
import { andThen } from '../support/maybe-promise.ts'
import { readWhere } from './find-input.ts'
import type { JsonResult, ReadOperation } from './operation.ts'
import { where } from './parameters.ts'

/** How many records fulfil a condition. For code in the same process; over the wire a list is asked for its `count`. */
export const count: ReadOperation<{ readonly where: Condition }, JsonResult> = {
  name: 'count',
  effect: 'reads',
  action: 'read',
  routes: [],
  parameters: [where],
  parse: (parameters, { model }, { limits }) => ({ where: readWhere(parameters, model, limits) }),
  run: ({ input, target, client }, reads) =>
    andThen(reads.count(target.model, input.where, client), (value) => ({ kind: 'json', value })),
}
