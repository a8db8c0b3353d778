import type { StorageClass } from '../../../model/attribute-type.ts'
import type { ColumnCheck } from '../../check-schema.ts'
import { quoteName } from '../client/text-form.ts'
import { madeAs, madeTypes, wholeNumbers } from './column-type.ts'
import type { PostgresColumn } from './inspect.ts'

const numeric = [...wholeNumbers, 'numeric', 'float4', 'float8']
const textual = ['text', 'varchar', 'bpchar', 'name', 'citext']

/** The catalog names of the types that store each storage class without silent loss. */
const keepers: Readonly<Record<Exclude<StorageClass, 'text'>, ReadonlySet<string>>> = {
  integer: new Set([...wholeNumbers, 'numeric', 'float4', 'float8']),
  bigint: new Set([...wholeNumbers, 'numeric']),
  real: new Set([...wholeNumbers, 'numeric', 'float4', 'float8']),
  boolean: new Set(['bool']),
  json: new Set(['json', 'jsonb', ...textual]),
  timestamp: new Set(['timestamptz', 'timestamp', 'date']),
  uuid: new Set(['uuid', ...textual]),
  binary: new Set(['bytea']),
}

/** A reference with a fraction could not be compared with a key, so that no record with it could be read. */
const fractions = new Set(['float4', 'float8'])

/** Types without an equality of their own, or without an order. */
export const incomparable = ['json', 'xml', 'point', 'line', 'lseg', 'box', 'path', 'polygon', 'circle']

/** Types that Keelson creates for other values than text, and their like. Of all others, such as enums, the text is stored. */
const notText = new Set([
  ...wholeNumbers,
  'float4',
  'float8',
  'bool',
  'bytea',
  'jsonb',
  'timestamptz',
  'timestamp',
  ...incomparable,
])

/** The type of attributes for the values of a type; of all others the text. */
const typeNames: Readonly<Record<string, string>> = {
  ...Object.fromEntries(numeric.map((name) => [name, 'number'])),
  ...Object.fromEntries(['timestamptz', 'timestamp', 'date'].map((name) => [name, 'datetime'])),
  bool: 'boolean',
  bytea: 'binary',
  json: 'json',
  jsonb: 'json',
}

export const postgresColumns: ColumnCheck<PostgresColumn> = {
  holds({ columnType, references, type: { storedAs } }, { kind }) {
    if (references && fractions.has(kind.name)) return false
    if (storedAs === 'text')
      return columnType === undefined ? !notText.has(kind.name) : !incomparable.includes(kind.name)
    return keepers[storedAs].has(kind.name)
  },

  typeOf: ({ type }) => type,

  attributeType: ({ kind: { name } }) =>
    incomparable.includes(name) && name !== 'json' ? undefined : (typeNames[name] ?? 'string'),

  changeType({ table }, { column, columnType, type: { storedAs } }, { kind }) {
    // A `columnType` of another kind, such as that of an array, would be refused again.
    const declared = storedAs === 'json' ? undefined : columnType
    const type = declared ?? madeAs[storedAs]
    const cast = declared ?? madeTypes[storedAs].written
    const name = quoteName(column)
    // The text of a large fraction has an exponent, and that of money a currency.
    const number = fractions.has(kind.name)
      ? `${name}::float8::numeric`
      : kind.name === 'money' && storedAs !== 'text'
        ? `${name}::numeric`
        : name
    // The text of a time or of an enumeration is no JSON.
    const value = storedAs === 'json' ? `to_jsonb(${number})` : `${number}::text::${cast}`
    return `the column: alter table ${quoteName(table)} alter column ${name} type ${type} using ${value}`
  },

  compares: ({ kind: { name } }, { kind: { name: key } }) =>
    name === key || [textual, numeric].some((names) => names.includes(name) && names.includes(key)),

  makeUnique: (table, ...columns) =>
    `create unique index on ${quoteName(table)} (${columns.map(quoteName).join(', ')})`,

  allowNull: (table, column) => `alter table ${quoteName(table)} alter column ${quoteName(column)} drop not null`,
}
