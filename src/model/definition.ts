import type { Json, JsonObject } from '../protocol/json.ts'
import type { AccessDefinition, AnyUser, AttributeAccess } from './access-rules.ts'
import type { ActionDefinitions } from './actions/action.ts'
import type { SqlDialect, SqlExpression } from './computed.ts'
import type { HookDefinitions } from './hooks.ts'
import type { JobDefinitions } from './job.ts'
import type { StandardSchema } from './standard-schema.ts'

/** The values of `type`. */
export const typeNames = ['string', 'number', 'boolean', 'json', 'ref', 'datetime', 'bigint', 'binary'] as const
export type TypeName = (typeof typeNames)[number]

/** The declaration of an attribute, in the notation of Waterline. Checked at start. Its rules are about users of type `U`. */
export interface AttributeDefinition<U = AnyUser> {
  /** The type of the values. An association has none. */
  readonly type?: TypeName
  /** The name of the column; default: the name of the attribute. */
  readonly columnName?: string
  /** The SQL type of the column, such as `varchar(80)`. Options such as `CHARACTER SET utf8mb4` are ignored. */
  readonly columnType?: string
  /** The key of the model; it has no `id` then. */
  readonly primaryKey?: boolean
  /** The database generates ascending numbers. */
  readonly autoIncrement?: boolean
  /** The time when the record was created. */
  readonly autoCreatedAt?: boolean
  /** The time of the last change of the record. */
  readonly autoUpdatedAt?: boolean
  /** No two records have the same value; null is not compared. Creates an index. */
  readonly unique?: boolean
  /** Creates an index on the column. */
  readonly index?: boolean
  /** A new record must have a value that is not empty. */
  readonly required?: boolean
  /** Allows null for an attribute that is required or has a default. Other attributes always allow null. */
  readonly allowNull?: boolean
  /** The value of a new record when it is omitted; a function is called for each record. */
  readonly defaultsTo?: Json | (() => Json)
  /** The only values that are allowed; they are also the type of the attribute. */
  readonly isIn?: readonly (string | number | boolean)[]
  /** The smallest number. */
  readonly min?: number
  /** The largest number. */
  readonly max?: number
  /** The smallest number of characters. */
  readonly minLength?: number
  /** The largest number of characters. */
  readonly maxLength?: number
  /** An email address. */
  readonly isEmail?: boolean
  /** A URL. */
  readonly isURL?: boolean
  /** An integer within ±2^53. */
  readonly isInteger?: boolean
  /** A UUID of any version, stored in lower case. A primary key is generated when it is omitted. */
  readonly isUUID?: boolean
  /** Matched in linear time, without lookaround and back references. */
  readonly regex?: RegExp
  /** Returns true for a valid value, or a message. */
  // biome-ignore lint/suspicious/noExplicitAny: the function is written for the type of its attribute
  readonly custom?: (value: any) => boolean | string
  /** A Standard Schema (zod, valibot, arktype) of a JSON value. */
  readonly schema?: StandardSchema
  /** Never in responses and events, and unknown to filters, sort orders and selections. It can be written. */
  readonly hidden?: boolean
  /** Rules besides those of the model. A value that a requester may not read is unknown to it, or null where the rule depends on the record. */
  readonly access?: AttributeAccess<U>
  /** Only code on behalf of the system writes it. */
  readonly readOnly?: boolean
  /** The attributes that a computed attribute depends on. It is not stored, and cannot be written. */
  readonly computed?: readonly string[]
  /** The value of a computed attribute, given the attributes in `computed`. It depends on nothing else. */
  // biome-ignore lint/suspicious/noExplicitAny: the function is written for the attributes that it depends on
  readonly get?: (record: any) => unknown
  /**
   * The same value as an SQL expression, so that it can be filtered and sorted: a function of the quoted columns of the
   * attributes in `computed`, or one for each database.
   */
  readonly sql?: SqlExpression | { readonly [dialect in SqlDialect]: SqlExpression }
  /** For documentation. */
  readonly description?: string
  /** To-one: the name of the target model. */
  readonly model?: string
  /**
   * To-one: what destroying the record that it refers to does. `cascade` destroys this record too, `setNull` clears the
   * reference, `restrict` refuses. Without it `setNull`, or `restrict` where the reference is required.
   */
  readonly onDestroy?: 'cascade' | 'setNull' | 'restrict'
  /** To-many: the name of the target model. */
  readonly collection?: string
  /** To-many: the attribute of the target, or of the model of `through`, that refers to this model. */
  readonly via?: string
  /** To-many: the model or table of the pairs. */
  readonly through?: string | JunctionTable
}

/** An existing junction table. */
export interface JunctionTable {
  readonly tableName: string
  /** The column that contains the key of this model. */
  readonly from: string
  /** The column that contains the key of the target. */
  readonly to: string
}

/** Attributes by name; `false` removes a shared attribute. */
export type AttributeDefinitions<U = AnyUser> = { readonly [name: string]: AttributeDefinition<U> | false }

/** The declaration of a model. `U` is the type of user that `auth.identify` returns, which its rules are about. */
export interface ModelDefinition<U = AnyUser> {
  /** The name of the table; default: the name of the model. */
  readonly tableName?: string | undefined
  /** The name of the primary key; default `id`. */
  readonly primaryKey?: string | undefined
  /** Attributes and associations by name, besides `id`, `createdAt` and `updatedAt`; `false` removes one of these. */
  readonly attributes?: AttributeDefinitions<U> | undefined
  /** Indexes on several attributes: `[['kind', 'createdAt DESC'], { attributes: ['pet', 'day'], unique: true }]`. */
  readonly indexes?: readonly IndexDefinition[] | undefined
  /** What requesters may do with the records. What a declared access does not mention is forbidden. */
  readonly access?: AccessDefinition<U> | undefined
  /** Functions that run before the transaction of a write, or within it. */
  readonly hooks?: HookDefinitions<U> | undefined
  /** Operations of the application on a record or on the model, which `action` makes. */
  readonly actions?: ActionDefinitions | undefined
  /** Jobs that run after the commit of a change. */
  // biome-ignore lint/suspicious/noExplicitAny: the record is that of this model, which is not known yet
  readonly on?: JobDefinitions<any> | undefined
  /** `self`: no other program writes the table, so that answers are kept on PostgreSQL as well. */
  readonly writers?: 'self' | 'any' | undefined
  /** For documentation. */
  readonly description?: string | undefined
}

/** An index: its attributes, each with an optional direction (`['kind', 'createdAt DESC']`), or an object with options. */
export type IndexDefinition = readonly string[] | IndexOptions
export interface IndexOptions {
  /** The names of the attributes, each with an optional direction. */
  readonly attributes: readonly string[]
  /** No two records have the same values. Records with null in one of the attributes are not compared. */
  readonly unique?: boolean
  /** A partial index: only records with these values. `{ state: 'open', closedAt: null, email: { '!=': null } }` */
  readonly where?: JsonObject
}

export type ModelDefinitions<U = AnyUser> = { readonly [name: string]: ModelDefinition<U> }

/** The built-in attributes of every model. The configuration or the model may replace or remove them. */
export const sharedAttributes = {
  id: { type: 'number', autoIncrement: true },
  createdAt: { type: 'datetime', autoCreatedAt: true },
  updatedAt: { type: 'datetime', autoUpdatedAt: true },
} as const satisfies AttributeDefinitions
