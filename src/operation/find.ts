import { type FindInput, readFind } from './find-input.ts'
import { list } from './list.ts'
import type { Operation } from './operation.ts'

/** A list of records: filtered, sorted, a page of it. */
export const find: Operation<FindInput> = {
  name: 'find',
  effect: 'reads',
  routes: [
    { method: 'GET', path: '/:model', style: 'rest' },
    { method: 'GET', path: '/:model/find', style: 'shortcut' },
  ],
  parse: (parameters, { model }, context) => readFind(parameters, model, context),
  run: (input, { model }, store, context) => list(input, model, store, context),
}
