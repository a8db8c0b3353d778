import type { Attribute, Index, Model } from '../model/model.ts'
import { type EarlierTable, earlierTables } from './earlier-tables.ts'
import { indexesOf, isUniqueIn, uniqueIndex } from './indexes.ts'
import type { ExistingTable, MigrateMode } from './schema.ts'
import type { SchemaDialect } from './schema-dialect.ts'
import { schemaName } from './schema-name.ts'
import type { SchemaStep } from './schema-step.ts'
import { addColumn, addForeignKey, constantDefault, createTable, dropTable } from './sql-definitions.ts'
import { createIndex, isPresent, whereOf } from './sql-indexes.ts'

/** A step and the statement that performs it. */
export interface PlannedStep {
  readonly step: SchemaStep
  readonly statement: string
}

/**
 * The steps after which the database can store the records of these models: missing tables, columns, foreign keys and
 * indexes. `add` changes and drops nothing that exists, `safe` has no steps. `unserved` are tables of earlier models.
 */
export function planSchema(
  models: readonly Model[],
  existing: ReadonlyMap<string, ExistingTable>,
  dialect: SchemaDialect,
  mode: MigrateMode,
  unserved: readonly ExistingTable[] = [],
): readonly PlannedStep[] {
  if (mode === 'safe') return []
  const dropped = mode === 'drop' ? models.filter(({ table }) => existing.has(table)) : []
  const tableOf = ({ table }: Model) => (mode === 'drop' ? undefined : existing.get(table))
  const earlier = mode === 'drop' ? new Map() : earlierTables(models, existing, unserved)
  const altered = models.filter((model) => canBeAltered(model, tableOf(model)))
  return [
    ...dropped.map((model) => planned({ kind: 'dropTable', table: model.table }, dropTable(model, dialect))),
    ...altered.flatMap((model) => tableSteps(model, tableOf(model), dialect, earlier.get(model.table))),
    ...altered.flatMap((model) => foreignKeySteps(model, tableOf(model), dialect)),
    ...altered.flatMap((model) => indexSteps(model, tableOf(model), dialect)),
  ]
}

/** A view is served as it is, and a table without the key of its model is refused by the check of the schema. */
const canBeAltered = ({ isJunction, primaryKey }: Model, table: ExistingTable | undefined): boolean =>
  table === undefined || (table.isTable && (isJunction || table.columns.has(primaryKey.column)))

const planned = (step: SchemaStep, statement: string): PlannedStep => ({ step, statement })

type Plan = (
  model: Model,
  table: ExistingTable | undefined,
  dialect: SchemaDialect,
  earlier?: EarlierTable,
) => readonly PlannedStep[]

const tableSteps: Plan = (model, table, dialect, earlier) =>
  table
    ? missingColumns(model, table).map((attribute, index, { length }) => {
        // They are named once, after all columns of the table.
        const unused = index === length - 1 ? unusedColumns(model, table) : []
        return planned(addColumnStep(model, attribute, unused), addColumn(model, attribute, dialect))
      })
    : [planned({ kind: 'createTable', table: model.table, ...(earlier && { earlier }) }, createTable(model, dialect))]

const addColumnStep = (model: Model, attribute: Attribute, unused: readonly string[]): SchemaStep => ({
  kind: 'addColumn',
  table: model.table,
  column: attribute.column,
  isNull: !attribute.nullable && constantDefault(attribute) === undefined,
  unused,
})

function unusedColumns(model: Model, table: ExistingTable): readonly string[] {
  const used = new Set([...model.attributes.values()].map(({ column }) => column))
  return [...table.columns.keys()].filter((column) => !used.has(column))
}

const foreignKeySteps: Plan = (model, table, dialect) =>
  !dialect.capabilities.addsForeignKeys
    ? []
    : missingColumns(model, table).flatMap((attribute) => {
        const { column, references } = attribute
        if (!references) return []
        const name = schemaName([model.table, column], 'fkey')
        return planned(
          { kind: 'addForeignKey', table: model.table, column, target: references.table },
          addForeignKey(model, attribute, name, dialect),
        )
      })

const indexSteps: Plan = (model, table, dialect) =>
  [...indexesOf(model), ...(table ? pairIndex(model, table) : [])]
    .filter((index) => !isPresent(model, index, table, dialect))
    .map((index) => planned(indexStep(model, index, dialect), createIndex(model, index, dialect)))

const indexStep = ({ table }: Model, index: Index, dialect: SchemaDialect): SchemaStep => ({
  kind: 'createIndex',
  table,
  columns: index.columns.map(({ attribute, direction }) => attribute.column + (direction === 'desc' ? ' desc' : '')),
  unique: index.unique,
  ...(index.where.length > 0 && { where: whereOf(index, dialect) }),
})

/** A table of pairs that another program has made, where one pair could be added twice. */
const pairIndex = (model: Model, { canBeUnique, uniques }: ExistingTable): readonly Index[] =>
  model.isJunction && canBeUnique && !isUniqueIn(model.key, uniques) ? [uniqueIndex(model.key)] : []

const missingColumns = (model: Model, table: ExistingTable | undefined): readonly Attribute[] =>
  [...model.attributes.values()].filter(({ column }) => !table?.columns.has(column))
