import { ConfigError } from '../model/config-error.ts'
import type { Attribute, Model } from '../model/model.ts'
import { sentenceList } from '../support/sentence-list.ts'
import { isUniqueIn } from './indexes.ts'
import type { ExistingColumn, ExistingTable } from './schema.ts'

/** What a database knows about the types of its columns, and how the operator can change them. */
export interface ColumnCheck<Column extends ExistingColumn> {
  /**
   * Whether the column stores every value of the attribute without changing it. Text with a declared `columnType` is not
   * checked: the type is intended.
   */
  holds(attribute: Attribute, column: Column): boolean
  /** The type of a column, as a message names it. */
  typeOf(column: Column): string
  /** The `type` of an attribute for the values of the column, where it is known. */
  attributeType(column: Column): string | undefined
  /** How to get a column that holds the attribute: the end of a sentence. */
  changeType(model: Model, attribute: Attribute, column: Column): string
  /** Whether the database compares a foreign key with the key that it contains. */
  compares(column: Column, key: Column): boolean
  /** The statement after which the column accepts null. */
  allowNull(table: string, column: string): string
  /** The statement after which no two rows have the same values. */
  makeUnique(table: string, ...columns: readonly string[]): string
}

interface TableOf<Column extends ExistingColumn> extends ExistingTable {
  readonly columns: ReadonlyMap<string, Column>
}

/**
 * Throws a ConfigError with every difference between models and tables by which requests would fail or answer other values
 * than were stored: missing tables and columns, types that cannot hold an attribute, columns that must have a value but
 * belong to no attribute, columns that the database computes and an attribute could write, and keys that do not name one record. `before` are the tables
 * as they were before this start: a key is not added to one of them.
 */
export function checkSchema<Column extends ExistingColumn>(
  models: readonly Model[],
  tables: ReadonlyMap<string, TableOf<Column>>,
  columns: ColumnCheck<Column>,
  before: ReadonlyMap<string, ExistingTable> = tables,
): void {
  const problems = models.flatMap((model) => schemaProblems(model, tables, columns, before))
  if (problems.length > 0) throw new ConfigError(problems)
}

/**
 * Throws a ConfigError where a start for which no `migrate` is configured would add columns to a table that another program has
 * made. `isServed` says of a table that its changes have been captured, by this service or another.
 */
export function refuseUnconfiguredMigration<Column extends ExistingColumn, Table extends TableOf<Column>>(
  models: readonly Model[],
  tables: ReadonlyMap<string, Table>,
  columns: ColumnCheck<Column>,
  isServed: (table: Table) => boolean,
): void {
  const altered = models.filter((model) => {
    const table = tables.get(model.table)
    return table?.isTable && missingAttributes(model, table).length > 0 && !isServed(table)
  })
  checkSchema(altered, tables, columns)
}

/** The differences of one model. Each begins with the name of the model, or of its attribute. */
export function schemaProblems<Column extends ExistingColumn>(
  model: Model,
  tables: ReadonlyMap<string, TableOf<Column>>,
  columns: ColumnCheck<Column>,
  before: ReadonlyMap<string, ExistingTable> = tables,
): readonly string[] {
  const table = tables.get(model.table)
  const { primaryKey } = model
  if (table && !model.isJunction && before.get(model.table)?.columns.has(primaryKey.column) === false)
    return [
      `${model.name}: ${nounOf(table)} has no column "${primaryKey.column}" for the key, and a start adds none. ${keyAdvice(model, table)}, or name another table (tableName: '…')`,
    ]
  if (!table) return [`${model.name}: the database has no table "${model.table}"; migrate: 'add' creates it`]
  return [
    ...attributeProblems(model, table, columns),
    ...missingColumnProblems(model, table),
    ...columnProblems(model, table, columns),
    ...keyProblems(model, table, columns),
    ...referenceProblems(model, table, tables, columns),
  ]
}

const nounOf = ({ name, isTable }: ExistingTable): string => `the ${isTable ? 'table' : 'view'} "${name}"`
const listed = (columns: readonly string[]): string => columns.map((column) => `"${column}"`).join(', ')

/** How a model gets a key in a table that has another one, or none. */
function keyAdvice({ attributes }: Model, { key, uniques, isTable }: ExistingTable): string {
  const [column] = (key.length === 1 ? key : uniques.find((unique) => unique.length === 1)) ?? []
  const declared = [...attributes.values()].find((attribute) => attribute.column === column)
  if (declared) return `It has unique values of "${column}": write primaryKey: '${declared.name}'`
  if (column !== undefined)
    return `It has unique values of "${column}": declare an attribute with columnName: '${column}' and primaryKey: true`
  if (!isTable) return "Declare the attribute that names one row (primaryKey: '…')"
  if (key.length > 1) return `Its key is ${listed(key)}, and that of a model is one column: add one with unique values`
  return 'It has no key: add a column with unique values'
}

function attributeProblems<Column extends ExistingColumn>(
  model: Model,
  table: TableOf<Column>,
  columns: ColumnCheck<Column>,
): readonly string[] {
  return [...model.attributes.values()].flatMap((attribute) => {
    const place = `${model.name}.${attribute.name}`
    const column = table.columns.get(attribute.column)
    if (!column) return []
    if (column.isComputed && !canBeComputed(attribute))
      return `${place}: the database computes the column "${column.name}" of the table "${table.name}", so that no record could be created. ${isValue(attribute) ? 'Write readOnly: true' : 'Leave the attribute out'}`
    if (columns.holds(attribute, column)) return []
    const { references } = attribute
    const problem = `the column "${column.name}" of the table "${table.name}" has the type ${columns.typeOf(column)}, which cannot hold ${attribute.type.noun}`
    if (attribute === model.primaryKey)
      return `${place}: ${problem}. A key keeps its type: declare it as it is stored ({ type: 'string', isUUID: true } for a UUID, { type: 'string', required: true } for other texts), or declare the new one as another attribute, or name another table (tableName: '…') and copy the records`
    const type = references ? undefined : columns.attributeType(column)
    const change = `Change the type of the attribute${type === undefined ? '' : ` to '${type}'`}`
    return `${place}: ${problem}. ${change}, or ${columns.changeType(model, attribute, column)}`
  })
}

const missingAttributes = ({ attributes }: Model, { columns }: ExistingTable): readonly Attribute[] =>
  [...attributes.values()].filter(({ column }) => !columns.has(column))

function missingColumnProblems(model: Model, table: ExistingTable): readonly string[] {
  const missing = missingAttributes(model, table)
  const [first, ...others] = missing
  if (!first) return []
  const [place, noun, pronoun] =
    others.length === 0 ? [`${model.name}.${first.name}`, 'column', 'it'] : [model.name, 'columns', 'them']
  const names = sentenceList(missing.map(({ column }) => `"${column}"`))
  const problem = `${place}: ${nounOf(table)} has no ${noun} ${names}`
  if (!table.isTable) return [problem]
  const times = missing.filter(({ autoCreatedAt, autoUpdatedAt }) => autoCreatedAt || autoUpdatedAt)
  const without = times.length === 0 ? '' : ` (${times.map(({ name }) => `${name}: false`).join(', ')})`
  return [
    `${problem}. Write migrate: 'add' to add ${pronoun}, or columnName where a column has another name, or leave the attribute${others.length === 0 ? '' : 's'} out${without}`,
  ]
}

/** Keys, associations and timestamps are written by the service. */
const isValue = ({ isPrimaryKey, references, autoCreatedAt, autoUpdatedAt }: Attribute): boolean =>
  !isPrimaryKey && !references && !autoCreatedAt && !autoUpdatedAt

const canBeComputed = (attribute: Attribute): boolean => attribute.readOnly && isValue(attribute)

/** Foreign keys that the database cannot compare with the keys that they contain. */
function referenceProblems<Column extends ExistingColumn>(
  { name: model, attributes }: Model,
  { columns: existing }: TableOf<Column>,
  tables: ReadonlyMap<string, TableOf<Column>>,
  { compares }: ColumnCheck<Column>,
): readonly string[] {
  return [...attributes.values()].flatMap(({ name, column: columnName, references }) => {
    const column = existing.get(columnName)
    const key = references && tables.get(references.table)?.columns.get(references.primaryKey.column)
    if (!column || !key || compares(column, key)) return []
    return `${model}.${name}: the column "${column.name}" has the type ${column.type}, and the key "${key.name}" of ${references.name} the type ${key.type}, which the database does not compare. Give them the same type`
  })
}

function columnProblems<Column extends ExistingColumn>(
  model: Model,
  table: TableOf<Column>,
  columns: ColumnCheck<Column>,
): readonly string[] {
  const used = new Set([...model.attributes.values()].map(({ column }) => column))
  return [...table.columns.values()]
    .filter(({ name, mustBeGiven }) => mustBeGiven && !used.has(name))
    .map(({ name }) => {
      const problem = `the column "${name}" of the table "${table.name}" must have a value and belongs to no attribute, so that no record could be created`
      return `${model.name}: ${problem}. Declare an attribute with this column (after a renaming: columnName: '${name}'), or allow null: ${columns.allowNull(table.name, name)}`
    })
}

function keyProblems<Column extends ExistingColumn>(
  { name, primaryKey, isJunction, key: attributes }: Model,
  { name: table, columns: existing, key: stored, uniques, canBeUnique }: TableOf<Column>,
  columns: ColumnCheck<Column>,
): readonly string[] {
  const key = existing.get(primaryKey.column)
  if (!key || !canBeUnique) return []
  if (isJunction) {
    if (isUniqueIn(attributes, uniques)) return []
    const pair = attributes.map(({ column }) => column)
    return [
      `the table "${table}" may contain a pair of ${pair.join(' and ')} twice, so that a member could be added twice. Make pairs unique: ${columns.makeUnique(table, ...pair)}`,
    ]
  }
  const place = `${name}: the key column "${key.name}" of the table "${table}"`
  if (!uniques.some((unique) => unique.length === 1 && unique[0] === key.name)) {
    const others =
      stored.length > 1
        ? `The key of the table is ${listed(stored)}, and that of a model is one column: add one with unique values`
        : 'Choose another primary key'
    return [
      `${place} may have equal values, so that a request for one record would change several. ${others}, or make it unique: ${columns.makeUnique(table, key.name)}`,
    ]
  }
  if (primaryKey.autoIncrement && key.becomesNull)
    return [
      `${place} gets no value from the database, so that new records would have no key. Declare the attribute as required`,
    ]
  return []
}
