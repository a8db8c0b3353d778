import { isIndexable } from '../model/declare-indexes.ts'
import type { Model } from '../model/model.ts'
import type { ColumnCheck } from './check-schema.ts'
import { indexesOf, isUniqueIn, uniqueIndex } from './indexes.ts'
import type { ExistingColumn, ExistingTable } from './schema.ts'
import { indexName } from './sql-indexes.ts'

/**
 * What existing tables declare and the service does not use, although a program that writes with SQL gets it, and what they
 * demand of records that the models allow.
 */
export const schemaWarnings = (
  models: readonly Model[],
  tables: ReadonlyMap<string, ExistingTable>,
  columns: Pick<ColumnCheck<ExistingColumn>, 'allowNull'>,
): readonly string[] =>
  models.flatMap((model) => {
    const table = tables.get(model.table)
    if (!table || model.isJunction) return []
    return [
      ...unusedDefaults(model, table),
      ...unusedCascades(model, table),
      ...refusedNulls(model, table, columns),
      ...otherTargets(model, table),
      ...refusedDuplicates(model, table),
    ]
  })

function unusedDefaults({ name, attributes }: Model, { columns }: ExistingTable): readonly string[] {
  const unused = [...attributes.values()].filter(
    ({ column, isPrimaryKey, required, autoCreatedAt, autoUpdatedAt, defaultsTo }) =>
      columns.get(column)?.hasDefault &&
      !(isPrimaryKey || required || autoCreatedAt || autoUpdatedAt || defaultsTo !== undefined),
  )
  if (unused.length === 0) return []
  const names = unused.map((attribute) => `"${attribute.column}"`).join(', ')
  return [
    `${name}: the service does not use the default of the column ${names}: it stores null where a value is omitted. defaultsTo of the attribute declares one`,
  ]
}

/** A required association is refused with a message while there are records that refer to it. */
const unusedCascades = ({ name, table, attributes }: Model, { foreignKeys }: ExistingTable): readonly string[] =>
  [...attributes.values()]
    .filter(
      ({ column, onDestroy }) =>
        onDestroy === 'setNull' &&
        foreignKeys.some(({ columns, cascades }) => cascades && columns.length === 1 && columns[0] === column),
    )
    .map(
      (attribute) =>
        `${name}.${attribute.name}: the database deletes rows of "${table}" with the row that "${attribute.column}" refers to, and the service sets it to null before. onDestroy: 'cascade' deletes them, too`,
    )

/** Warnings of columns that refuse null although their attributes allow it, as after `required` was removed. */
const refusedNulls = (
  { name, table, attributes }: Model,
  { columns }: ExistingTable,
  { allowNull }: Pick<ColumnCheck<ExistingColumn>, 'allowNull'>,
): readonly string[] =>
  [...attributes.values()]
    .filter(({ column, nullable }) => nullable && columns.get(column)?.mustBeGiven)
    .map(
      (attribute) =>
        `${name}.${attribute.name}: the column "${attribute.column}" of the table "${table}" does not accept null, and every record without a value gets 400. Declare required: true or defaultsTo, or allow null: ${allowNull(table, attribute.column)}`,
    )

/** Warnings of foreign keys that refer to another table than their associations, as after a change of the target. */
const otherTargets = ({ name, attributes }: Model, { foreignKeys }: ExistingTable): readonly string[] =>
  [...attributes.values()].flatMap((attribute) => {
    const { column, references } = attribute
    const targets = foreignKeys
      .filter(({ columns, isNotEnforced }) => columns.length === 1 && columns[0] === column && !isNotEnforced)
      .map(({ table }) => table)
    if (!references || targets.length === 0 || targets.includes(references.table)) return []
    return [
      `${name}.${attribute.name}: the database accepts keys of the table "${targets[0]}" in the column "${column}", and the association those of "${references.table}". columnName: '${column}_${references.table}' stores it in another column`,
    ]
  })

/**
 * Warnings of unique indexes that the model does not declare, as after `unique` was removed. An index whose columns include
 * those of another unique index adds no rule, and is not reported. Nor is one of JSON or bytes, which no model can declare.
 */
function refusedDuplicates(model: Model, { uniques, indexes, uniqueConstraints }: ExistingTable): readonly string[] {
  const byColumn = new Map([...model.attributes.values()].map((attribute) => [attribute.column, attribute]))
  const declared = [
    uniqueIndex(model.key),
    ...indexesOf(model).filter(({ unique, where }) => unique && where.length === 0),
  ]
  const demanded = declared.map(({ columns }) => columns.map(({ attribute }) => attribute.column))
  return uniques.flatMap((columns) => {
    const attributes = columns.map((column) => byColumn.get(column)).filter((found) => found !== undefined)
    const others = uniques.filter(({ length }) => length < columns.length)
    if (attributes.length < columns.length || isUniqueIn(attributes, [...demanded, ...others])) return []
    if (!attributes.every(({ type }) => isIndexable(type))) return []
    const name = indexName(model, uniqueIndex(attributes))
    const drop = uniqueConstraints?.has(name) ? `alter table "${model.table}" drop constraint` : 'drop index'
    const statement = indexes.has(name) ? `, or drop it: ${drop} "${name}"` : ''
    const listed = columns.map((column) => `"${column}"`).join(', ')
    return [
      `${model.name}: the database refuses equal values of (${listed}), which the model allows. Declare the unique index${statement}`,
    ]
  })
}
