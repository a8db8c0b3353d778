import type { Json } from '../protocol/json.ts'
import type { AttributeType } from './attribute-type.ts'
import type { Rule } from './rules.ts'
import type { StandardSchema } from './standard-schema.ts'

/** What a declared attribute became. One column; names from outside are looked up until they are one of these. */
export interface Attribute {
  readonly name: string
  readonly column: string
  readonly type: AttributeType
  /** Given by the declaration for a column of a database we did not make; undefined lets the dialect choose. */
  readonly columnType: string | undefined
  readonly isPrimaryKey: boolean
  readonly required: boolean
  /** May hold null. */
  readonly nullable: boolean
  readonly unique: boolean
  /** The database counts it up. */
  readonly autoIncrement: boolean
  /** Filled by us when nobody gave a value: a key that is a UUID. */
  readonly generated: boolean
  readonly autoCreatedAt: boolean
  readonly autoUpdatedAt: boolean
  /** Parsed already; undefined: none. A function is called for each new record. */
  readonly defaultsTo: Json | (() => Json) | undefined
  readonly rules: readonly Rule[]
  /** Has a say on a JSON value, and may change it. */
  readonly schema: StandardSchema | undefined
  /** The model whose key this holds, for a to-one association. */
  readonly references: Model | undefined
}

export interface BelongsTo {
  readonly kind: 'belongsTo'
  readonly name: string
  readonly target: Model
  readonly foreignKey: Attribute
}
export interface HasMany {
  readonly kind: 'hasMany'
  readonly name: string
  readonly target: Model
  /** The target's attribute that points back. */
  readonly via: Attribute
}
export interface ManyToMany {
  readonly kind: 'manyToMany'
  readonly name: string
  readonly target: Model
  readonly junction: Model
  /** The junction's attribute that points to this model. */
  readonly near: Attribute
  /** The junction's attribute that points to the target. */
  readonly far: Attribute
}
export type Association = BelongsTo | HasMany | ManyToMany

export interface Model {
  readonly name: string
  readonly table: string
  /** What identifies a row: the primary key; for a junction that nobody wrote, its two foreign keys. */
  readonly key: readonly Attribute[]
  /** `key[0]`, the only one for every model that is served. */
  readonly primaryKey: Attribute
  readonly attributes: ReadonlyMap<string, Attribute>
  readonly associations: ReadonlyMap<string, Association>
  /** A junction that nobody wrote: stored and logged, never served. */
  readonly isJunction: boolean
}

export type Models = ReadonlyMap<string, Model>
