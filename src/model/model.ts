import type { Json } from '../protocol/json.ts'
import type { AttributeAccess, ModelRules } from './access-rules.ts'
import type { DeclaredActions } from './actions/declare-actions.ts'
import type { AttributeType } from './attribute-type.ts'
import type { Computation } from './computed.ts'
import type { ModelHooks } from './hooks.ts'
import type { Rule } from './rules.ts'
import type { StandardSchema } from './standard-schema.ts'

/** *cascade*: they are destroyed too. *setNull*: they refer to none. *restrict*: it is refused. */
export const onDestroyActions = ['cascade', 'setNull', 'restrict'] as const
export type OnDestroy = (typeof onDestroyActions)[number]

/** *self*: only the process of the service writes the table. *any*: other programs may. */
export const writers = ['self', 'any'] as const
export type Writers = (typeof writers)[number]

/** What a database tells of a column when it is opened, before any request. */
export interface StoredColumn {
  /**
   * Texts that are not the same may be equal in it, as in one that ignores letter case: a condition means something else in
   * memory, so that the database is asked.
   */
  foldsText: boolean
  /**
   * What the database compares in another way than memory, which compares texts by code points: their *order*, as in a locale or
   * an enumeration, or their *equality* as well, as in a type that has several spellings of one value. *fraction*: its times have
   * fractions of milliseconds, which memory does not have.
   */
  ownComparison: 'none' | 'order' | 'equality' | 'fraction'
  /** The database computes it from others (`generated always as`): no statement may contain a value. */
  isComputed: boolean
  /** The database has no comparisons by order for its type. */
  isUnordered: boolean
}

/** An attribute with a column. Names in requests are resolved to these objects and never reach SQL. */
export interface Attribute {
  readonly name: string
  readonly column: string
  readonly type: AttributeType
  /** The declared type of an existing column; undefined: chosen by the dialect. */
  readonly columnType: string | undefined
  readonly isPrimaryKey: boolean
  readonly required: boolean
  /** Whether null is allowed. */
  readonly nullable: boolean
  /** Whether an empty text means null, as in applications of Sails, which store it for an omitted UUID. */
  readonly emptyIsNull: boolean
  readonly unique: boolean
  /** Whether it is left out of responses and events and unknown to filters, sort orders and selections. */
  readonly hidden: boolean
  /** Whether an index was declared for it; `indexes` of the model contains it. */
  readonly index: boolean
  /** Whether the database generates ascending numbers. */
  readonly autoIncrement: boolean
  /** Whether the service generates an omitted value: a UUID key. */
  readonly generated: boolean
  readonly autoCreatedAt: boolean
  readonly autoUpdatedAt: boolean
  /** In canonical form; undefined: none. A function is called for each new record. */
  readonly defaultsTo: Json | (() => Json) | undefined
  readonly rules: readonly Rule[]
  /** Validates a JSON value and may transform it. */
  readonly schema: StandardSchema | undefined
  /** The model whose key is stored, for a to-one association. */
  readonly references: Model | undefined
  /** What destroying the referenced record does to records that refer to it. */
  readonly onDestroy: OnDestroy | undefined
  /** Rules besides those of the model. */
  readonly access: AttributeAccess | undefined
  /** Written by code of the system only. */
  readonly readOnly: boolean
  readonly stored: StoredColumn
  /** Given for an attribute that is not stored: its value follows from others. */
  readonly computed?: Computation
}

/** A column of this name that nothing fills or restricts. */
export const plainAttribute = (name: string, type: AttributeType): Attribute => ({
  name,
  column: name,
  type,
  columnType: undefined,
  isPrimaryKey: false,
  required: false,
  nullable: true,
  unique: false,
  emptyIsNull: false,
  hidden: false,
  index: false,
  autoIncrement: false,
  generated: false,
  autoCreatedAt: false,
  autoUpdatedAt: false,
  defaultsTo: undefined,
  rules: [],
  schema: undefined,
  references: undefined,
  onDestroy: undefined,
  access: undefined,
  readOnly: false,
  stored: { foldsText: false, ownComparison: 'none', isComputed: false, isUnordered: false },
})

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
  /** The foreign key of the target that refers to this model. */
  readonly via: Attribute
}
export interface ManyToMany {
  readonly kind: 'manyToMany'
  readonly name: string
  readonly target: Model
  readonly junction: Model
  /** The foreign key of the junction that refers to this model. */
  readonly near: Attribute
  /** The foreign key of the junction that refers to the target. */
  readonly far: Attribute
}
export type Association = BelongsTo | HasMany | ManyToMany

/** A declared index: those of `indexes` and of `index: true`. Keys, unique attributes and foreign keys are not included. */
export interface Index {
  readonly columns: readonly { readonly attribute: Attribute; readonly direction: 'asc' | 'desc' }[]
  readonly unique: boolean
  /** A partial index contains the records for which all comparisons hold. Empty: all records. */
  readonly where: readonly IndexComparison[]
}
export interface IndexComparison {
  readonly attribute: Attribute
  readonly operator: '=' | '!='
  /** In canonical form; null for `is null` and `is not null`. */
  readonly value: Json
}

export interface Model {
  readonly name: string
  readonly table: string
  /** The primary key; for an undeclared junction, its two foreign keys. */
  readonly key: readonly Attribute[]
  /** `key[0]`; the only key of a served model. */
  readonly primaryKey: Attribute
  readonly attributes: ReadonlyMap<string, Attribute>
  /** The attributes that are not stored. */
  readonly computed: ReadonlyMap<string, Attribute>
  /** Without the to-one associations whose foreign key is hidden. */
  readonly associations: ReadonlyMap<string, Association>
  readonly indexes: readonly Index[]
  /** An undeclared junction: stored and logged, but not served. */
  readonly isJunction: boolean
  /** Undefined: no rules are declared for it. */
  readonly access: ModelRules | undefined
  /** Undefined: none are declared. */
  readonly hooks: ModelHooks | undefined
  /** Operations of the application, by name in lower case. */
  readonly actions: DeclaredActions
  /** Undefined: as the configuration says for all models. */
  readonly writers?: Writers | undefined
  /** Given by a view. */
  readonly original?: Model
}

/** The model that a view of it was made from: a view leaves out attributes that a requester may never read. */
export const originalOf = (model: Model): Model => model.original ?? model

/** The attribute of this name, stored or computed. */
export const attributeOf = ({ attributes, computed }: Model, name: string): Attribute | undefined =>
  attributes.get(name) ?? computed.get(name)

/** All attributes, the computed ones last. */
export const everyAttribute = ({ attributes, computed }: Model): readonly Attribute[] => [
  ...attributes.values(),
  ...computed.values(),
]

export type Models = ReadonlyMap<string, Model>

/** The tables that only the service writes; a junction, where it alone writes both sides. */
export function selfWrittenTables(models: Models, byDefault: Writers | undefined): ReadonlySet<string> {
  const isSelfWritten = (model: Model): boolean =>
    model.isJunction
      ? model.key.every(({ references }) => references !== undefined && isSelfWritten(references))
      : (model.writers ?? byDefault) === 'self'
  return new Set([...models.values()].filter(isSelfWritten).map(({ table }) => table))
}
