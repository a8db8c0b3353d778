import type { StorageClass } from '../../../model/attribute-type.ts'
import type { Attribute } from '../../../model/model.ts'
import type { Json } from '../../../protocol/json.ts'

/** The column type that Keelson creates for each storage class. */
export const madeAs: Readonly<Record<StorageClass, string>> = {
  text: 'text collate "C"',
  integer: 'bigint',
  bigint: 'bigint',
  real: 'double precision',
  boolean: 'boolean',
  json: 'jsonb',
  timestamp: 'timestamptz(3)',
  uuid: 'uuid',
  binary: 'bytea',
}

/** The type of an existing column; for a domain, its base type. */
export interface ColumnType {
  /** The name in the catalog: `int8`, `timestamptz`, `mood`. */
  readonly name: string
  /** The name in a statement: `bigint`, `public.mood`. */
  readonly written: string
  /** Has fields, as a row has. */
  readonly isComposite?: boolean
  /** PostgreSQL finds no operator for it. */
  readonly isEnumDomain?: boolean
}

export const madeTypes: Readonly<Record<StorageClass, ColumnType>> = {
  text: { name: 'text', written: 'text' },
  integer: { name: 'int8', written: 'bigint' },
  bigint: { name: 'int8', written: 'bigint' },
  real: { name: 'float8', written: 'double precision' },
  boolean: { name: 'bool', written: 'boolean' },
  json: { name: 'jsonb', written: 'jsonb' },
  timestamp: { name: 'timestamptz', written: 'timestamptz' },
  uuid: { name: 'uuid', written: 'uuid' },
  binary: { name: 'bytea', written: 'bytea' },
}

/** The real types of inspected columns; undefined: as Keelson creates them. */
export type ColumnTypes = (attribute: Attribute) => ColumnType | undefined

export const typeOf = (attribute: Attribute, types: ColumnTypes): ColumnType =>
  types(attribute) ?? madeTypes[attribute.type.storedAs]

export const wholeNumbers: ReadonlySet<string> = new Set(['int2', 'int4', 'int8'])

export const isJson = ({ name }: ColumnType): boolean => name === 'json' || name === 'jsonb'
export const isArray = ({ name }: ColumnType): boolean => name.startsWith('_')
export const isUuid = ({ name }: ColumnType): boolean => name === 'uuid'
/** As `regclass` does: it is a number, whose text is the name of an object of the database. */
const namesObjects = ({ name }: ColumnType): boolean => /^reg[a-z]+$/.test(name)
/** Contains integers only, never NaN. */
export const isWhole = ({ name }: ColumnType): boolean => wholeNumbers.has(name)

/**
 * The type that operands are cast to, so that the column is not cast and its index is used. Undefined: inferred by
 * PostgreSQL, as for a comparison with an enum; of a composite type, it would infer no more than that it is one, and of
 * `regclass` the number behind the name.
 */
export function operandType(attribute: Attribute, values: readonly Json[], types: ColumnTypes): string | undefined {
  const type = typeOf(attribute, types)
  switch (attribute.type.storedAs) {
    case 'text':
      return type.isComposite || namesObjects(type) ? type.written : undefined
    case 'json':
    case 'binary':
      return undefined
    case 'boolean':
      return 'bool'
    case 'timestamp':
      return 'timestamptz'
    case 'uuid':
      return isUuid(type) ? 'uuid' : undefined
    case 'integer':
    case 'bigint':
      return type.name === 'numeric' ? 'numeric' : 'int8'
    case 'real':
      if (type.name === 'numeric' || type.name === 'float4') return type.name
      // The index of an integer column does not serve fractions. The lookup statement is shared by all keys, so it does not
      // depend on one.
      return isWhole(type) && (attribute.isPrimaryKey || values.every(Number.isSafeInteger)) ? 'int8' : 'float8'
  }
}
