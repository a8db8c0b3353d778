import type { Model, Models } from '../../model/model.ts'
import { getOrInsertComputed } from '../../support/get-or-insert-computed.ts'
import type { DispatchContext } from '../dispatch/context.ts'
import { type Caller, type LooseRecords, recordsOf } from './records.ts'

/** The records of every served model, for one caller. */
export const recordsByModel = (context: DispatchContext, caller: Caller): ReadonlyMap<string, LooseRecords> =>
  new Map(
    [...context.services.models.values()]
      .filter((model) => !model.isJunction)
      .map((model) => [model.name, recordsOf(context, model, caller)]),
  )

type RecordsOfModel = (model: Model) => LooseRecords
type LazyRecords = new (recordsOfModel: RecordsOfModel) => object

/** A class for the models of each service: its getters are defined once and not for every call of a function. */
const classes = new WeakMap<Models, LazyRecords>()

/** Records by model, made when they are first used: few functions of the application use those of every model. */
export const lazyRecords = (models: Models, recordsOfModel: RecordsOfModel): object =>
  new (getOrInsertComputed(classes, models, () => lazyRecordsClass(models)))(recordsOfModel)

function lazyRecordsClass(models: Models): LazyRecords {
  class Lazy {
    readonly #made = new Map<Model, LooseRecords>()
    readonly #recordsOfModel: RecordsOfModel

    constructor(recordsOfModel: RecordsOfModel) {
      this.#recordsOfModel = recordsOfModel
    }

    static {
      for (const model of models.values()) {
        if (model.isJunction) continue
        Object.defineProperty(Lazy.prototype, model.name, {
          get(this: Lazy) {
            return getOrInsertComputed(this.#made, model, () => this.#recordsOfModel(model))
          },
        })
      }
    }
  }
  return Lazy
}
