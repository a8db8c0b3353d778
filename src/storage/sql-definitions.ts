import type { Attribute, Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { SchemaDialect } from './schema-dialect.ts'

export function createTable(model: Model, dialect: SchemaDialect): string {
  const quote = dialect.identifier
  const lines = [...model.attributes.values()].map((attribute) => column(model, attribute, dialect))
  if (model.key.length > 1) lines.push(`primary key (${model.key.map((key) => quote(key.column)).join(', ')})`)
  return `create table ${quote(model.table)} (\n  ${lines.join(',\n  ')}\n)`
}

export const dropTable = ({ table }: Model, dialect: SchemaDialect): string =>
  `drop table ${dialect.identifier(table)}${dialect.capabilities.addsForeignKeys ? ' cascade' : ''}`

/** What existing rows get in a new column; otherwise null. */
export const constantDefault = ({ defaultsTo }: Attribute): Json | undefined =>
  defaultsTo === null || typeof defaultsTo === 'function' ? undefined : defaultsTo

/** Existing rows need a value in the new column: the constant default, or null. */
export function addColumn(model: Model, attribute: Attribute, dialect: SchemaDialect): string {
  const { nullable } = attribute
  const value = constantDefault(attribute)
  const constraints =
    value === undefined ? [] : [nullable ? '' : 'not null', `default ${dialect.literal(attribute, value)}`]
  const definition = words(
    dialect.identifier(attribute.column),
    dialect.columnType(attribute),
    ...constraints,
    ...checks(attribute, dialect),
  )
  return `alter table ${dialect.identifier(model.table)} add column ${definition}`
}

export function addForeignKey(model: Model, attribute: Attribute, name: string, dialect: SchemaDialect): string {
  const quote = dialect.identifier
  const key = `foreign key (${quote(attribute.column)}) ${references(attribute, dialect)}`
  return `alter table ${quote(model.table)} add constraint ${quote(name)} ${key}`
}

function column(model: Model, attribute: Attribute, dialect: SchemaDialect): string {
  const name = dialect.identifier(attribute.column)
  const isKey = attribute.isPrimaryKey && model.key.length === 1
  if (isKey && attribute.autoIncrement) return `${name} ${dialect.countedKey}`
  return words(
    name,
    dialect.columnType(attribute),
    attribute.nullable ? '' : 'not null',
    isKey ? 'primary key' : '',
    ...checks(attribute, dialect),
  )
}

const checks = (attribute: Attribute, dialect: SchemaDialect): readonly string[] => [
  attribute.type.storedAs === 'json' ? dialect.jsonCheck(dialect.identifier(attribute.column)) : '',
  !dialect.capabilities.addsForeignKeys && attribute.references ? references(attribute, dialect) : '',
]

/** A delete by another program has the effect of a destroy, as far as a foreign key can express it. */
function references(attribute: Attribute, { identifier }: SchemaDialect): string {
  const target = attribute.references as Model
  const rule = attribute.onDestroy === 'setNull' ? 'set null' : attribute.onDestroy
  return `references ${identifier(target.table)} (${identifier(target.primaryKey.column)}) on delete ${rule}`
}

const words = (...all: readonly string[]): string => all.filter((word) => word !== '').join(' ')
