import type { Json } from '../protocol/json.ts'
import type { ReadOperation } from './operation.ts'
import { parseKey } from './record-key.ts'
import { readShowing, type Showing, show } from './show.ts'

/** One record by its key. Parameters that narrow a list mean nothing here and are passed over, as clients expect. */
export const findOne: ReadOperation<Showing & { readonly id: Json }> = {
  name: 'findOne',
  effect: 'reads',
  routes: [
    { method: 'GET', path: '/:model/:record', style: 'rest' },
    { method: 'GET', path: '/:model/find/:record', style: 'shortcut' },
  ],
  parse: (parameters, { model }, { limits }) => ({
    id: parseKey(parameters.record, model),
    ...readShowing(parameters, model, limits),
  }),
  run: ({ id, ...showing }, { model }, reads) => show(id, showing, model, reads),
}
