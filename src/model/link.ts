import { assertDefined } from '../support/assert.ts'
import { publicRules } from './access-rules.ts'
import type { AssociationPlan, AssociationPlans } from './associate.ts'
import { plainColumnType } from './column-type.ts'
import { accessOf, isNullable } from './declare-attribute.ts'
import { isComputed, linkComputed } from './declare-computed.ts'
import { type IndexPlan, linkIndex } from './declare-indexes.ts'
import type { AttributeDefinition } from './definition.ts'
import type { Draft, Drafts } from './draft.ts'
import { modelHooks } from './hooks.ts'
import type { Junction } from './junction.ts'
import { type Association, type Attribute, type Index, type Model, type Models, plainAttribute } from './model.ts'

/** The attributes of each model by name, without associations. */
export type Declared = ReadonlyMap<Draft, ReadonlyMap<string, Attribute>>

/** The declared indexes of each model. */
export type IndexPlans = ReadonlyMap<Draft, readonly IndexPlan[]>

/** What the models are built from. */
interface Parts {
  readonly declared: Declared
  readonly plans: AssociationPlans
  readonly modelOf: (draft: Draft) => Model
}

interface Unfinished extends Model {
  readonly attributes: Map<string, Attribute>
  computed: ReadonlyMap<string, Attribute>
  readonly associations: Map<string, Association>
  readonly indexes: Index[]
}

/**
 * Builds the models. All definitions are valid at this point. First the models with their keys, then the attributes,
 * which include the foreign keys, then the associations.
 */
export function link(drafts: Drafts, declared: Declared, plans: AssociationPlans, indexes: IndexPlans): Models {
  const models = new Map<Draft, Unfinished>()
  for (const draft of drafts.values()) models.set(draft, unfinished(draft, declared))
  const modelOf = (draft: Draft): Model => assertDefined(models.get(draft), `the model ${draft.name} was not linked`)
  const parts = { declared, plans, modelOf }

  for (const [draft, model] of models) {
    fillAttributes(model, draft, parts)
    model.computed = linkComputed(draft, model.attributes)
    for (const plan of indexes.get(draft) ?? []) model.indexes.push(linkIndex(plan, (name) => attributeOf(model, name)))
  }
  const junctions = new Map(plans.junctions.map((junction) => [junction.table, junctionModel(junction, modelOf)]))
  for (const [draft, model] of models) {
    for (const [name, plan] of plansOf(plans, draft)) {
      if (model.attributes.get(name)?.hidden) continue
      model.associations.set(name, association(name, plan, model, { modelOf, junctions }))
    }
  }
  return new Map([...models.values(), ...junctions.values()].map((model) => [model.name, model]))
}

const plansOf = (plans: AssociationPlans, draft: Draft): ReadonlyMap<string, AssociationPlan> =>
  assertDefined(plans.associations.get(draft), `${draft.name} has no resolved associations`)

const attributeOf = (model: Model, name: string): Attribute =>
  assertDefined(model.attributes.get(name), `${model.name} has no attribute ${name}`)

function unfinished(draft: Draft, declared: Declared): Unfinished {
  const key = assertDefined(declared.get(draft)?.get(draft.primaryKey ?? ''), `${draft.name} has no primary key`)
  return {
    name: draft.name,
    table: draft.table,
    key: [key],
    primaryKey: key,
    attributes: new Map(),
    computed: new Map(),
    associations: new Map(),
    indexes: [],
    isJunction: false,
    access: draft.access === 'public' ? publicRules : draft.access,
    hooks: draft.hooks && modelHooks(draft.hooks),
    actions: draft.actions,
    writers: draft.writers,
  }
}

function fillAttributes(model: Unfinished, draft: Draft, { declared, plans, modelOf }: Parts): void {
  for (const [name, definition] of draft.attributes) {
    const plan = plansOf(plans, draft).get(name)
    if (isComputed(definition)) continue
    if (plan === undefined)
      model.attributes.set(name, assertDefined(declared.get(draft)?.get(name), `${name} is not declared`))
    else if (plan.kind === 'belongsTo') model.attributes.set(name, toOne(name, definition, modelOf(plan.target)))
  }
}

const toOne = (name: string, definition: AttributeDefinition, target: Model): Attribute => ({
  ...foreignKey(definition.columnName ?? name, target),
  name,
  columnType: definition.columnType === undefined ? columnTypeOf(target) : plainColumnType(definition.columnType),
  required: definition.required === true,
  nullable: isNullable(definition, false),
  unique: definition.unique === true,
  hidden: definition.hidden === true,
  ...accessOf(definition),
  index: definition.index === true,
  onDestroy: definition.onDestroy ?? (isNullable(definition, false) ? 'setNull' : 'restrict'),
})

/** Has the type of the key that it refers to, but not its default and rules. */
const foreignKey = (column: string, target: Model): Attribute => ({
  ...plainAttribute(column, target.primaryKey.type),
  columnType: columnTypeOf(target),
  required: true,
  nullable: false,
  references: target,
  onDestroy: 'cascade',
})

/** A type that generates numbers (`serial`) is not repeated for the foreign key. */
const columnTypeOf = ({ primaryKey }: Model): string | undefined =>
  primaryKey.autoIncrement ? undefined : primaryKey.columnType

function junctionModel({ table, columns }: Junction, modelOf: (draft: Draft) => Model): Model {
  const [first, second] = columns
  const key = [foreignKey(first.name, modelOf(first.target)), foreignKey(second.name, modelOf(second.target))] as const
  return {
    name: table,
    table,
    key,
    primaryKey: key[0],
    attributes: new Map(key.map((attribute) => [attribute.name, attribute])),
    computed: new Map(),
    associations: new Map(),
    indexes: [],
    isJunction: true,
    access: undefined,
    hooks: undefined,
    actions: new Map(),
  }
}

/** The finished models, and those of the undeclared junctions by their tables. */
interface Targets {
  readonly modelOf: (draft: Draft) => Model
  readonly junctions: ReadonlyMap<string, Model>
}

function association(name: string, plan: AssociationPlan, model: Model, { modelOf, junctions }: Targets): Association {
  const target = modelOf(plan.target)
  if (plan.kind === 'belongsTo') return { kind: 'belongsTo', name, target, foreignKey: attributeOf(model, name) }
  if (plan.kind === 'hasMany') return { kind: 'hasMany', name, target, via: attributeOf(target, plan.via) }
  const junction =
    plan.kind === 'through'
      ? modelOf(plan.through)
      : assertDefined(junctions.get(plan.junction.table), `${plan.junction.table} was not linked`)
  const [near, far] = [attributeOf(junction, plan.near), attributeOf(junction, plan.far)]
  return { kind: 'manyToMany', name, target, junction, near, far }
}
