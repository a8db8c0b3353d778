import type { ManyToMany, Model } from '../model/model.ts'
import type { ExistingTable } from './schema.ts'

/**
 * A table without a model that may be the one that is created, under an earlier name of the model or association; or the table
 * of a model whose to-one association has become the pairs of the one that is created.
 */
export interface EarlierTable {
  readonly table: string
  /** For a table of pairs, the association that may have been renamed, and its columns in the earlier table. */
  readonly pairs?: { readonly association: string; readonly from: string; readonly to: string }
  /** For a to-one association, its column and the statement that copies it. */
  readonly reference?: { readonly column: string; readonly copy: string }
}

/**
 * Finds the earlier tables of the models that get a new one. `unserved` are tables whose changes were captured for a model
 * or a table of pairs, and which belong to none now.
 */
export function earlierTables(
  models: readonly Model[],
  existing: ReadonlyMap<string, ExistingTable>,
  unserved: readonly ExistingTable[],
): ReadonlyMap<string, EarlierTable> {
  const found = new Map<string, EarlierTable>()
  const created = models.filter(({ table }) => !existing.has(table))
  for (const model of created.filter(({ isJunction }) => !isJunction)) {
    const earlier = unserved.find((table) => isLike(model, table))
    if (earlier) found.set(model.table, { table: earlier.name })
  }
  for (const junction of created.filter(({ isJunction }) => isJunction)) {
    const earlier = earlierPairs(junction, models, unserved, found) ?? earlierReference(junction, models, existing)
    if (earlier) found.set(junction.table, earlier)
  }
  return found
}

/** A model that was renamed has the same columns, or some more or fewer. Those that every model has say nothing. */
function isLike({ attributes }: Model, { columns }: ExistingTable): boolean {
  const own = [...attributes.values()]
  const names = new Set(own.map(({ column }) => column))
  const isPart = own.every(({ column }) => columns.has(column)) || [...columns.keys()].every((name) => names.has(name))
  const specific = own.filter(
    (attribute) => !attribute.isPrimaryKey && !attribute.autoCreatedAt && !attribute.autoUpdatedAt,
  )
  return isPart && specific.some(({ column }) => columns.has(column))
}

/** A table of two foreign keys to the tables of the same models, or to their earlier ones. */
function earlierPairs(
  junction: Model,
  models: readonly Model[],
  unserved: readonly ExistingTable[],
  renamed: ReadonlyMap<string, EarlierTable>,
): EarlierTable | undefined {
  for (const model of models) {
    const association = [...model.associations.values()].find(
      (association): association is ManyToMany =>
        association.kind === 'manyToMany' && association.junction.table === junction.table,
    )
    if (!association) continue
    const refersTo = (target: Model, table: string) =>
      table === target.table || table === renamed.get(target.table)?.table
    for (const { name, columns, foreignKeys } of unserved) {
      const near = foreignKeys.find(({ columns, table }) => columns.length === 1 && refersTo(model, table))
      const far = foreignKeys.find(
        (key) => key !== near && key.columns.length === 1 && refersTo(association.target, key.table),
      )
      const [from, to] = [near?.columns[0], far?.columns[0]]
      if (columns.size === 2 && from !== undefined && to !== undefined)
        return { table: name, pairs: { association: `${model.name}.${association.name}`, from, to } }
    }
  }
  return undefined
}

/** A foreign key without an attribute, in the table of one of the models, to that of the other. */
function earlierReference(
  junction: Model,
  models: readonly Model[],
  existing: ReadonlyMap<string, ExistingTable>,
): EarlierTable | undefined {
  for (const model of models) {
    for (const association of model.associations.values()) {
      if (association.kind !== 'manyToMany' || association.junction !== junction) continue
      const { near, far, target } = association
      const table = existing.get(model.table)
      const used = new Set([...model.attributes.values()].map(({ column }) => column))
      const column = table?.foreignKeys.find(
        ({ columns: [first, ...others], table }) =>
          others.length === 0 && first !== undefined && !used.has(first) && table === target.table,
      )?.columns[0]
      if (column === undefined) continue
      const copy = `insert into "${junction.table}" ("${near.column}", "${far.column}") select "${model.primaryKey.column}", "${column}" from "${model.table}" where "${column}" is not null`
      return { table: model.table, reference: { column, copy } }
    }
  }
  return undefined
}
