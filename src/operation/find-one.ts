import { oneByKey, type Selection } from '../criteria/criteria.ts'
import { parseSelect } from '../criteria/parse-select.ts'
import { noSuchRecord } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import { chain } from '../support/maybe.ts'
import { type Operation, parameter } from './operation.ts'
import { parseKey } from './record-key.ts'
import { refuseUnserved } from './refuse-unserved.ts'

/** One record by its key. Parameters that narrow a list mean nothing here and are passed over, as clients expect. */
export const findOne: Operation<{ readonly id: Json; readonly select: Selection }> = {
  name: 'findOne',
  effect: 'reads',
  routes: [
    { method: 'GET', path: '/:model/:record', style: 'rest' },
    { method: 'GET', path: '/:model/find/:record', style: 'shortcut' },
  ],

  parse(parameters, { model }) {
    refuseUnserved(parameters)
    return {
      id: parseKey(parameters.record, model),
      select: parseSelect(parameter(parameters, 'select'), parameter(parameters, 'omit'), model),
    }
  },

  run: ({ id, select }, { model }, store) =>
    chain(store.find(model, oneByKey(model, id, select)), (records) => {
      if (records.length === 0) throw noSuchRecord(model.name)
      return { kind: 'record', records }
    }),
}
