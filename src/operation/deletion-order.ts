import type { Model } from '../model/model.ts'
import type { ForeignKeyReference, OperationServices } from './operation.ts'

export interface DeletionOrder {
  /** Each model comes after those that refer to it. */
  readonly order: readonly Model[]
  /** References that close a cycle of models, or refer to the same model and restrict: they are cleared first. */
  readonly cut: readonly ForeignKeyReference[]
}

/** The order in which records of these models can be deleted without violating a foreign key in between. */
export function deletionOrder(
  models: ReadonlySet<Model>,
  referencedBy: OperationServices['referencedBy'],
): DeletionOrder {
  const order: Model[] = []
  const cut: ForeignKeyReference[] = []
  const open = new Set<Model>()
  const visit = (model: Model): void => {
    if (order.includes(model)) return
    open.add(model)
    for (const reference of referencedBy.get(model) ?? []) {
      const { model: referring, attribute } = reference
      if (!models.has(referring)) continue
      if (referring === model) {
        // The database checks each deleted row, or each statement, and not the records that are deleted together.
        if (attribute.nullable && attribute.onDestroy === 'restrict') cut.push(reference)
      } else if (!open.has(referring)) visit(referring)
      else if (attribute.nullable) cut.push(reference)
    }
    open.delete(model)
    order.push(model)
  }
  for (const model of models) visit(model)
  return { order, cut }
}
