import { type FindInput, readFind } from './find-input.ts'
import { list } from './list.ts'
import type { ReadOperation } from './operation.ts'

/** A list of records: filtered, sorted, a page of it. */
export const find: ReadOperation<FindInput> = {
  name: 'find',
  effect: 'reads',
  routes: [
    { method: 'GET', path: '/:model', style: 'rest' },
    { method: 'GET', path: '/:model/find', style: 'shortcut' },
  ],
  parse: (parameters, { model }, context) => readFind(parameters, model, context),
  run: (input, { model }, reads, context) => list(input, model, reads, context),
}
