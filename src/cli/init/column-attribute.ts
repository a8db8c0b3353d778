import { declareAttribute } from '../../model/declare-attribute.ts'
import { isIndexable } from '../../model/declare-indexes.ts'
import type { AttributeDefinition } from '../../model/definition.ts'
import { attributeTypeOf } from '../../model/types.ts'
import type { Json } from '../../protocol/json.ts'
import { isCurrentTime, isNewUuid, literalText } from '../../storage/default-expression.ts'
import type { ExistingColumn, ExistingTable } from '../../storage/schema.ts'
import { wordsOf } from './names.ts'

/** An attribute as it is written to the file. */
export interface PlannedAttribute {
  readonly definition: AttributeDefinition
  /** A comment: what the database does and the service does not. */
  readonly note?: string | undefined
  /** A comment: an option that the attribute may need. */
  readonly hint?: string | undefined
}

/** The attribute of a column that is neither a key nor an association. `base` follows from its type. */
export function columnAttribute(
  base: AttributeDefinition,
  name: string,
  column: ExistingColumn,
  table: ExistingTable,
): PlannedAttribute {
  const { options, ...comments } = valueOptions(base, name, column)
  return {
    definition: {
      ...withColumn(base, name, column.name),
      ...options,
      ...(isUnique(base, column, table) && { unique: true }),
      ...(isSecret(base, name) && { hidden: true }),
    },
    ...comments,
  }
}

/** The type first, then the column. */
export function withColumn(
  { type, ...options }: AttributeDefinition,
  name: string,
  column: string,
): AttributeDefinition {
  return { ...(type !== undefined && { type }), ...columnNameOf(name, column), ...options }
}

export const columnNameOf = (name: string, column: string): Pick<AttributeDefinition, 'columnName'> =>
  name === column ? {} : { columnName: column }

export function isUnique(base: AttributeDefinition, { name }: ExistingColumn, { uniques }: ExistingTable): boolean {
  return canBeIndexed(base) && uniques.some((columns) => columns.length === 1 && columns[0] === name)
}

export function canBeIndexed(base: AttributeDefinition): boolean {
  const type = attributeTypeOf(base)
  return typeof type === 'object' && isIndexable(type)
}

interface ValueOptions extends Omit<PlannedAttribute, 'definition'> {
  readonly options: AttributeDefinition
}

/** What a new record gets when the value is omitted, and whether it may be null; or that the database computes the value. */
function valueOptions(base: AttributeDefinition, name: string, column: ExistingColumn): ValueOptions {
  const { nullable, defaultText, isComputed } = column
  if (isComputed) return { options: { readOnly: true } }
  const allowNull = nullable ? { allowNull: true } : {}
  if (defaultText === undefined) return { options: nullable ? {} : { required: true }, ...timeHint(base, name) }
  const value = literalValue(base, defaultText)
  if (value !== undefined) return { options: { defaultsTo: value, ...allowNull } }
  if (base.type === 'datetime' && isCurrentTime(defaultText)) {
    const automatic = automaticTime(name)
    return { options: { ...(automatic ?? { defaultsTo: () => Date.now() }), ...allowNull } }
  }
  if (base.isUUID && isNewUuid(defaultText)) return { options: { defaultsTo: () => crypto.randomUUID(), ...allowNull } }
  return { options: nullable ? {} : { required: true }, note: unusedDefault(column) }
}

/** A note on the default of a column whose attribute has none; undefined if the column has none either. */
export function unusedDefault({ defaultText, nullable }: ExistingColumn): string | undefined {
  if (defaultText === undefined) return undefined
  const consequence = nullable ? 'an omitted value is null' : 'a value must be given'
  return `The service does not use the default of the database, ${defaultText}: ${consequence}`
}

/** Names of the times that a service sets. */
const automaticTimes: Readonly<Record<string, 'autoCreatedAt' | 'autoUpdatedAt'>> = {
  createdat: 'autoCreatedAt',
  createdon: 'autoCreatedAt',
  updatedat: 'autoUpdatedAt',
  updatedon: 'autoUpdatedAt',
  modifiedat: 'autoUpdatedAt',
}

function automaticTime(name: string): AttributeDefinition | undefined {
  const option = automaticTimes[name.toLowerCase()]
  return option && { [option]: true }
}

/** A hint for a time that the database does not set, so that a program does: the service may set it instead. */
function timeHint({ type }: AttributeDefinition, name: string): { readonly hint?: string } {
  const option = automaticTimes[name.toLowerCase()]
  return type === 'datetime' && option ? { hint: `With ${option}: true, without required, the service sets it` } : {}
}

/** The value of a literal, if the attribute accepts it. */
function literalValue(base: AttributeDefinition, expression: string): Json | undefined {
  const text = literalText(expression)
  const value = text !== undefined && base.type === 'json' ? parsed(text) : text
  if (value === undefined) return undefined
  const declared = declareAttribute('value', { ...base, defaultsTo: value }, false)
  return 'column' in declared ? (declared.defaultsTo as Json) : undefined
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

const secretWords = new Set(['password', 'passwd', 'pwd', 'passphrase', 'secret', 'salt', 'token', 'otp'])

/** Whether the name indicates a secret, such as a password. */
function isSecret({ type }: AttributeDefinition, name: string): boolean {
  if (type !== 'string' && type !== 'binary') return false
  const words = wordsOf(name)
  return words.some(
    (word, place) => secretWords.has(word) || /^(?:api|private) key$/.test(`${words[place - 1]} ${word}`),
  )
}
