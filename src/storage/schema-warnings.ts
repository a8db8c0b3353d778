import type { Model } from '../model/model.ts'
import type { ExistingTable } from './schema.ts'

/** What existing tables declare and the service does not use, although a program that writes with SQL gets it. */
export const schemaWarnings = (
  models: readonly Model[],
  tables: ReadonlyMap<string, ExistingTable>,
): readonly string[] =>
  models.flatMap((model) => {
    const table = tables.get(model.table)
    return table && !model.isJunction ? [...unusedDefaults(model, table), ...unusedCascades(model, table)] : []
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
