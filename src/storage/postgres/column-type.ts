import type { StorageClass } from '../../model/attribute-type.ts'
import type { Attribute } from '../../model/model.ts'
import type { Json } from '../../protocol/json.ts'

/** How we make a column for each way of storing. */
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

/** The type of a column that is there: of a domain, what it is made of. */
export interface ColumnType {
  /** As the catalog names it: `int8`, `timestamptz`, `mood`. */
  readonly name: string
  /** As it is written in a statement: `bigint`, `public.mood`. */
  readonly written: string
}

const madeTypes: Readonly<Record<StorageClass, ColumnType>> = {
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

/** What columns really are, for those that were looked up; the others are taken to be as we make them. */
export type ColumnTypes = (attribute: Attribute) => ColumnType | undefined

export const typeOf = (attribute: Attribute, types: ColumnTypes): ColumnType =>
  types(attribute) ?? madeTypes[attribute.type.storedAs]

const wholeNumbers = new Set(['int2', 'int4', 'int8'])
const textual = new Set(['text', 'varchar', 'bpchar', 'name', 'citext'])

/** The catalog's names of the types that can keep a value of each class, without a loss that nobody is told of. */
const keepers: Readonly<Partial<Record<StorageClass, ReadonlySet<string>>>> = {
  integer: new Set([...wholeNumbers, 'numeric', 'float4', 'float8']),
  bigint: new Set([...wholeNumbers, 'numeric']),
  real: new Set([...wholeNumbers, 'numeric', 'float4', 'float8']),
  boolean: new Set(['bool']),
  json: new Set(['json', 'jsonb', ...textual]),
  timestamp: new Set(['timestamptz', 'timestamp', 'date']),
  uuid: new Set(['uuid', ...textual]),
  binary: new Set(['bytea']),
}

/** Text goes into everything: what it cannot hold it refuses itself. */
export const keeps = (type: ColumnType, storedAs: StorageClass): boolean => keepers[storedAs]?.has(type.name) ?? true

export const isJson = ({ name }: ColumnType): boolean => name === 'json' || name === 'jsonb'
export const isUuid = ({ name }: ColumnType): boolean => name === 'uuid'
/** Prints whole numbers only, never NaN. */
export const isWhole = ({ name }: ColumnType): boolean => wholeNumbers.has(name)

/**
 * The type that operands are cast to, so that the column needs no cast and keeps its index. Undefined: PostgreSQL finds
 * it out itself, which is how a text is compared with an enumeration.
 */
export function operandType(attribute: Attribute, values: readonly Json[], types: ColumnTypes): string | undefined {
  const type = typeOf(attribute, types)
  switch (attribute.type.storedAs) {
    case 'text':
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
      // An integer column has no index for fractions. The statement of a key serves every key, so it cannot look at one.
      return isWhole(type) && (attribute.isPrimaryKey || values.every(Number.isSafeInteger)) ? 'int8' : 'float8'
  }
}
