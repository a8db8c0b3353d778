import type { Json } from '../protocol/json.ts'
import type { StandardSchema } from './standard-schema.ts'

/** The words that `type` may be. */
export const typeNames = ['string', 'number', 'boolean', 'json', 'ref', 'datetime', 'bigint'] as const
export type TypeName = (typeof typeNames)[number]

/** One attribute as a person writes it, in the Waterline spelling. What goes with what is checked at start. */
export interface AttributeDefinition {
  readonly type?: TypeName
  readonly columnName?: string
  /** The column's type in SQL, passed on to the database as it is. */
  readonly columnType?: string
  readonly primaryKey?: boolean
  readonly autoIncrement?: boolean
  readonly autoCreatedAt?: boolean
  readonly autoUpdatedAt?: boolean
  readonly unique?: boolean
  /** Must be given, and not be empty, when a record is created. */
  readonly required?: boolean
  /** May be null although it is required or has a default. An attribute that is neither may always be null. */
  readonly allowNull?: boolean
  /** The value of a new record that was given none; a function is called each time. */
  readonly defaultsTo?: Json | (() => Json)
  readonly isIn?: readonly (string | number | boolean)[]
  readonly min?: number
  readonly max?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly isEmail?: boolean
  readonly isURL?: boolean
  readonly isInteger?: boolean
  readonly isUUID?: boolean
  readonly regex?: RegExp
  /** True when the value is fine; a string says what is wrong. */
  // biome-ignore lint/suspicious/noExplicitAny: a checker is written for the type of its own attribute
  readonly custom?: (value: any) => boolean | string
  /** A Standard Schema (zod, valibot, arktype) for a JSON value. */
  readonly schema?: StandardSchema
  readonly description?: string
  /** To-one: the other model's name. */
  readonly model?: string
  /** To-many: the other model's name. */
  readonly collection?: string
  /** To-many: the attribute on the other side; with `through` a model, the attribute there that points here. */
  readonly via?: string
  /** To-many: a model of your own, or a table, that holds the pairs. */
  readonly through?: string | JunctionTable
}

/** A table of pairs that is there already: its name, the column that points here, the column that points there. */
export interface JunctionTable {
  readonly tableName: string
  readonly from: string
  readonly to: string
}

/** `false` removes an attribute that all models share. */
export type AttributeDefinitions = { readonly [name: string]: AttributeDefinition | false }

export interface ModelDefinition {
  readonly tableName?: string
  /** The attribute that identifies a record; `id` when nothing says otherwise. */
  readonly primaryKey?: string
  readonly attributes?: AttributeDefinitions
  readonly description?: string
}

export type ModelDefinitions = { readonly [name: string]: ModelDefinition }

/** What every model has unless it, or the configuration's `attributes`, says otherwise. */
export const sharedAttributes = {
  id: { type: 'number', autoIncrement: true },
  createdAt: { type: 'datetime', autoCreatedAt: true },
  updatedAt: { type: 'datetime', autoUpdatedAt: true },
} as const satisfies AttributeDefinitions
