import { primaryKeyEquals } from '../criteria/criteria.ts'
import { fetchOne, parseRecordInput, type RecordInput } from './fetch-one.ts'
import type { ReadOperation, RecordResult } from './operation.ts'
import { projectionParameters } from './parameters.ts'
import { recordSubscriptions } from './subscriptions.ts'

/** One record by its key. Parameters of a list have no meaning here and are ignored, as clients expect. */
export const findOne: ReadOperation<RecordInput, RecordResult> = {
  name: 'findOne',
  effect: 'reads',
  action: 'read',
  routes: [
    { method: 'GET', path: '/:model/:record', style: 'rest' },
    { method: 'GET', path: '/:model/find/:record', style: 'shortcut' },
    { method: 'GET', path: '/:model/findOne/:record', style: 'shortcut' },
  ],
  parameters: projectionParameters,
  keepsByKey: true,
  streams: 'record',
  parse: parseRecordInput,
  conditionOf: ({ input, target }) => primaryKeyEquals(target.model, input.id),
  run: fetchOne,
  subscriptions: (result, { target }) => recordSubscriptions(result, target.model),
}
