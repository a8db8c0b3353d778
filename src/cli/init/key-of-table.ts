import type { StorageClass } from '../../model/attribute-type.ts'
import type { AttributeDefinition } from '../../model/definition.ts'
import { attributeTypeOf } from '../../model/types.ts'
import type { DatabaseDescription } from '../../storage/database-description.ts'
import type { ExistingColumn, ExistingTable } from '../../storage/schema.ts'

/** The column that names one row, and its attribute. */
export interface KeyOfTable {
  readonly column: ExistingColumn
  readonly definition: AttributeDefinition
  /** A comment: keys that the attribute cannot hold. */
  readonly hint?: string | undefined
  /** The column that a foreign key without columns refers to. */
  readonly primary: string | undefined
}

const keyClasses: readonly StorageClass[] = ['text', 'uuid', 'integer', 'bigint', 'real']
/** Types of numbers with a fraction, which no record is found by: a key is an integer. `numeric(10)` is one. */
const fraction = /real|floa|doub|\(\d+, ?[1-9]/i

/** The primary key of one column, or else a column that is unique and never null. */
export function keyOf(table: ExistingTable, description: DatabaseDescription): KeyOfTable | undefined {
  const primary = table.key.length === 1 ? table.key[0] : undefined
  const uniques = table.uniques.flatMap((columns) => {
    const column = columns.length === 1 ? table.columns.get(columns[0] as string) : undefined
    return column && !column.nullable ? [column.name] : []
  })
  const generated = table.canBeUnique
    ? []
    : table.key.filter((name) => isGenerated(table.columns.get(name), description))
  for (const name of [...(primary === undefined ? [] : [primary]), ...uniques, ...generated]) {
    const column = table.columns.get(name)
    const definition = column && keyAttribute(column, table, description)
    if (definition) return { column, definition, hint: tooLarge(definition, column), primary }
  }
  return undefined
}

/**
 * Whether the database generates the values. In a partitioned table, whose key includes the columns that it is partitioned by,
 * they are taken to be unique.
 */
const isGenerated = (column: ExistingColumn | undefined, description: DatabaseDescription): boolean =>
  column !== undefined && (description.isCounted(column) || description.attributeFor(column)?.isUUID === true)

function keyAttribute(
  column: ExistingColumn,
  { foreignKeys }: ExistingTable,
  description: DatabaseDescription,
): AttributeDefinition | undefined {
  const base = description.attributeFor(column)
  const type = base && attributeTypeOf(base)
  if (!base || typeof type !== 'object' || !keyClasses.includes(type.storedAs)) return undefined
  if (type.storedAs === 'real' && fraction.test(column.type)) return undefined
  const refers = foreignKeys.some(({ columns }) => columns.length === 1 && columns[0] === column.name)
  // Generated numbers are far below 2^53; the start warns of others.
  if (description.isCounted(column) && !refers) return { type: 'number', autoIncrement: true }
  if (type.storedAs === 'uuid') return { type: 'string', isUUID: true, ...(refers && { required: true }) }
  const isNumber = type.storedAs !== 'text'
  const isExact = type.storedAs !== 'real' || digitsOf(column) <= exactDigits
  const { isInteger, ...rest } = isExact ? base : ({ ...base, type: 'bigint' } as const)
  // The default is a function of the database, such as one that makes numbers of the time.
  if (isNumber && column.defaultText?.includes('(')) return { ...rest, autoIncrement: true }
  return { ...rest, ...(rest.type === 'number' && { isInteger: true }), required: true }
}

/** Numbers of so many digits are below 2^53, and those of 64 bits. */
const exactDigits = 15
const bigintDigits = 18

/** How many digits a column of `numeric` may have. */
const digitsOf = ({ type }: ExistingColumn): number => Number(/\((\d+)/.exec(type)?.[1] ?? Number.POSITIVE_INFINITY)

const tooLarge = ({ type }: AttributeDefinition, column: ExistingColumn): string | undefined =>
  type === 'bigint' && /^(?:num|dec)/i.test(column.type) && digitsOf(column) > bigintDigits
    ? 'A record whose key has more than 64 bits is listed, but no request finds it by its key'
    : undefined

/** Why a table has no model. */
export function missingKeyReason(table: ExistingTable, description: DatabaseDescription): string {
  const { key, isTable } = table
  if (!isTable) return 'a foreign table: write a model with the primaryKey that names one of its rows; it has no events'
  const [only] = key
  if (key.length === 1)
    return `its key "${only}" has the type ${table.columns.get(only as string)?.type}, which is not one of a key`
  const problem =
    key.length === 0
      ? 'it has no key'
      : `its key is ${key.map((column) => `"${column}"`).join(' and ')}, and that of a model is one column`
  return `${problem}. To serve it, ${description.addKey(table)}`
}
