import type { Attribute, Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { Dialect } from '../sql/dialect.ts'
import type { ExistingTable, MigrateMode, SchemaStep } from './schema.ts'

/** What a database must spell in its own way when tables are made. */
export interface SchemaDialect extends Dialect {
  /** The whole definition of a key that the database counts up, behind its name. */
  readonly countedKey: string
  /** Foreign keys stand in the column's own definition: the database cannot add them later. */
  readonly inlineForeignKeys: boolean
  /** A constant in a definition. Only for values out of a model. */
  literal(attribute: Attribute, value: Json): string
  /** What keeps anything but JSON out of a column that we create; '' where its type does. */
  jsonCheck(column: string): string
}

/**
 * What must be done so that the database can hold these models: tables, columns, unique constraints, foreign keys and
 * indexes that are missing. In `add` nothing that is there is changed or dropped, in `safe` nothing is done at all.
 */
export function planSchema(
  models: readonly Model[],
  existing: ReadonlyMap<string, ExistingTable>,
  dialect: SchemaDialect,
  mode: MigrateMode,
): readonly SchemaStep[] {
  if (mode === 'safe') return []
  const planner = new SchemaPlanner(dialect, mode === 'drop' ? new Map() : existing)
  const drops = mode === 'drop' ? models.flatMap((model) => planner.drop(model, existing)) : []
  return [
    ...drops,
    ...models.flatMap((model) => planner.table(model)),
    ...models.flatMap((model) => planner.foreignKeys(model)),
    ...models.flatMap((model) => planner.indexes(model)),
  ]
}

class SchemaPlanner {
  readonly #dialect: SchemaDialect
  readonly #existing: ReadonlyMap<string, ExistingTable>

  constructor(dialect: SchemaDialect, existing: ReadonlyMap<string, ExistingTable>) {
    this.#dialect = dialect
    this.#existing = existing
  }

  drop(model: Model, existing: ReadonlyMap<string, ExistingTable>): readonly SchemaStep[] {
    if (!existing.has(model.table)) return []
    const cascade = this.#dialect.inlineForeignKeys ? '' : ' cascade'
    return [{ done: `dropped table ${model.table}`, statements: [`drop table ${this.#quote(model.table)}${cascade}`] }]
  }

  table(model: Model): readonly SchemaStep[] {
    const existing = this.#existing.get(model.table)
    if (existing) return this.#addedColumns(model, existing)
    const lines = [...model.attributes.values()].map((attribute) => this.#column(model, attribute))
    if (model.key.length > 1) lines.push(`primary key (${model.key.map((key) => this.#quote(key.column)).join(', ')})`)
    const statement = `create table ${this.#quote(model.table)} (\n  ${lines.join(',\n  ')}\n)`
    return [{ done: `created table ${model.table}`, statements: [statement] }]
  }

  #addedColumns(model: Model, existing: ExistingTable): readonly SchemaStep[] {
    return [...model.attributes.values()]
      .filter((attribute) => !existing.columns.has(attribute.column))
      .map((attribute) => ({
        done: `added column ${model.table}.${attribute.column}`,
        statements: [`alter table ${this.#quote(model.table)} add column ${this.#addedColumn(model, attribute)}`],
      }))
  }

  #column(model: Model, attribute: Attribute): string {
    const dialect = this.#dialect
    const name = this.#quote(attribute.column)
    if (attribute.isPrimaryKey && model.key.length === 1 && attribute.autoIncrement)
      return `${name} ${dialect.countedKey}`
    const words = [name, dialect.columnType(attribute)]
    if (!attribute.nullable) words.push('not null')
    if (attribute.isPrimaryKey && model.key.length === 1) words.push('primary key')
    if (attribute.type.storedAs === 'json') words.push(dialect.jsonCheck(name))
    if (dialect.inlineForeignKeys && attribute.references) words.push(this.#references(model, attribute))
    return words.filter((word) => word !== '').join(' ')
  }

  /** Rows that are there already must have a value: a constant default, or none. */
  #addedColumn(model: Model, attribute: Attribute): string {
    const dialect = this.#dialect
    const name = this.#quote(attribute.column)
    const words = [name, dialect.columnType(attribute)]
    const { defaultsTo } = attribute
    if (defaultsTo !== undefined && defaultsTo !== null && typeof defaultsTo !== 'function') {
      words.push(`${attribute.nullable ? '' : 'not null '}default ${dialect.literal(attribute, defaultsTo)}`)
    }
    if (attribute.type.storedAs === 'json') words.push(dialect.jsonCheck(name))
    if (dialect.inlineForeignKeys && attribute.references) words.push(this.#references(model, attribute))
    return words.filter((word) => word !== '').join(' ')
  }

  /**
   * A stranger's delete does what ours does: what may be null becomes null, pairs go, and what is required keeps the
   * record from being deleted.
   */
  #references(model: Model, attribute: Attribute): string {
    const target = attribute.references as Model
    const rule = model.isJunction ? 'cascade' : attribute.nullable ? 'set null' : 'restrict'
    return `references ${this.#quote(target.table)} (${this.#quote(target.primaryKey.column)}) on delete ${rule}`
  }

  foreignKeys(model: Model): readonly SchemaStep[] {
    if (this.#dialect.inlineForeignKeys) return []
    const existing = this.#existing.get(model.table)
    return [...model.attributes.values()]
      .filter((attribute) => attribute.references && !existing?.columns.has(attribute.column))
      .map((attribute) => {
        const constraint = this.#quote(nameOf(model, attribute.column, 'fkey'))
        const key = `foreign key (${this.#quote(attribute.column)}) ${this.#references(model, attribute)}`
        return {
          done: `linked ${model.table}.${attribute.column} to ${attribute.references?.table}`,
          statements: [`alter table ${this.#quote(model.table)} add constraint ${constraint} ${key}`],
        }
      })
  }

  indexes(model: Model): readonly SchemaStep[] {
    return [...model.attributes.values()].flatMap((attribute) => [
      ...(attribute.unique && !attribute.isPrimaryKey ? this.#index(model, [attribute], true) : []),
      ...(attribute.references && !attribute.unique ? this.#foreignKeyIndex(model, attribute) : []),
    ])
  }

  /** (foreign key, key): a parent's children in their default order are one seek. */
  #foreignKeyIndex(model: Model, attribute: Attribute): readonly SchemaStep[] {
    const rest = model.key.filter((key) => key !== attribute)
    if (model.key[0] === attribute) return [] // the primary key's own index begins with it
    return this.#index(model, [attribute, ...rest], attribute.unique)
  }

  #index(model: Model, attributes: readonly Attribute[], unique: boolean): readonly SchemaStep[] {
    const columns = attributes.map((attribute) => attribute.column)
    const existing = this.#existing.get(model.table)
    if (unique && existing?.uniques.some((unique) => sameNames(unique, columns.slice(0, 1)))) return []
    const name = nameOf(model, (unique ? columns.slice(0, 1) : columns).join('_'), unique ? 'key' : 'idx')
    if (existing?.indexes.has(name)) return []
    if (!unique && existing?.orders.some((order) => sameNames(order.slice(0, columns.length), columns))) return []
    const list = (unique ? attributes.slice(0, 1) : attributes)
      .map((attribute) => this.#dialect.order(attribute, this.#quote(attribute.column), 'asc'))
      .join(', ')
    const kind = unique ? 'unique index' : 'index'
    return [
      {
        done: `created ${kind} on ${model.table} (${(unique ? columns.slice(0, 1) : columns).join(', ')})`,
        statements: [`create ${kind} ${this.#quote(name)} on ${this.#quote(model.table)} (${list})`],
      },
    ]
  }

  #quote(name: string): string {
    return this.#dialect.identifier(name)
  }
}

/** Databases cut names at 63 bytes: a long one ends in a hash of the whole. */
function nameOf(model: Model, column: string, kind: string): string {
  const name = `${model.table}_${column}_${kind}`
  if (name.length <= 63) return name
  let hash = 5381
  for (let index = 0; index < name.length; index++) hash = ((hash * 33) ^ name.charCodeAt(index)) >>> 0
  return `${name.slice(0, 50)}_${hash.toString(36)}`
}

const sameNames = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name, index) => name === b[index])
