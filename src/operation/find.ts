import { type FindInput, readFind } from './find-input.ts'
import { list } from './list.ts'
import type { ReadOperation, RecordsResult } from './operation.ts'
import { listParameters } from './parameters.ts'
import { listSubscriptions } from './subscriptions.ts'

/** A list of records: filtered, sorted, one page of it. */
export const find: ReadOperation<FindInput, RecordsResult> = {
  name: 'find',
  effect: 'reads',
  action: 'read',
  routes: [
    { method: 'GET', path: '/:model', style: 'rest' },
    { method: 'GET', path: '/:model/find', style: 'shortcut' },
  ],
  parameters: listParameters,
  cachesPlan: true,
  streams: 'model',
  parse: (parameters, { model }, services) => readFind(parameters, model, services),
  conditionOf: ({ input }) => input.criteria.where,
  run: ({ input, target, client }, reads, services) => list(input, target.model, reads, services, client),
  subscriptions: (result, { target }) => listSubscriptions(result, target.model),
}
