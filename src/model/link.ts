import { must } from '../support/assert.ts'
import type { Plan, Plans } from './associate.ts'
import { isNullable } from './declare-attribute.ts'
import type { AttributeDefinition } from './definition.ts'
import type { Draft, Drafts } from './draft.ts'
import type { Junction } from './junction.ts'
import type { Association, Attribute, Model, Models } from './model.ts'

/** The attributes of each model that hold a value of their own, by name. */
export type Declared = ReadonlyMap<Draft, ReadonlyMap<string, Attribute>>

interface Unfinished extends Model {
  readonly attributes: Map<string, Attribute>
  readonly associations: Map<string, Association>
}

/**
 * Models that know each other. Nothing can be wrong any more: all that was has been reported. First every model with
 * its key, then the attributes, among them those that hold another model's key, then what is made of these.
 */
export function link(drafts: Drafts, declared: Declared, plans: Plans): Models {
  const models = new Map<Draft, Unfinished>()
  for (const draft of drafts.values()) models.set(draft, unfinished(draft, declared))
  const modelOf = (draft: Draft): Model => must(models.get(draft), `the model ${draft.name} was not linked`)

  for (const [draft, model] of models) fillAttributes(model, draft, declared, plans, modelOf)
  const junctions = new Map(plans.junctions.map((junction) => [junction.table, junctionModel(junction, modelOf)]))
  for (const [draft, model] of models) {
    for (const [name, plan] of plansOf(plans, draft)) {
      model.associations.set(name, association(name, plan, model, modelOf, junctions))
    }
  }
  return new Map([...models.values(), ...junctions.values()].map((model) => [model.name, model]))
}

const plansOf = (plans: Plans, draft: Draft): ReadonlyMap<string, Plan> =>
  must(plans.associations.get(draft), `${draft.name} has no associations worked out`)

const attributeOf = (model: Model, name: string): Attribute =>
  must(model.attributes.get(name), `${model.name} has no attribute ${name}`)

function unfinished(draft: Draft, declared: Declared): Unfinished {
  const key = must(declared.get(draft)?.get(draft.primaryKey ?? ''), `${draft.name} has no primary key`)
  return {
    name: draft.name,
    table: draft.table,
    key: [key],
    primaryKey: key,
    attributes: new Map(),
    associations: new Map(),
    isJunction: false,
  }
}

function fillAttributes(
  model: Unfinished,
  draft: Draft,
  declared: Declared,
  plans: Plans,
  modelOf: (draft: Draft) => Model,
): void {
  for (const [name, definition] of draft.attributes) {
    const plan = plansOf(plans, draft).get(name)
    if (plan === undefined) model.attributes.set(name, must(declared.get(draft)?.get(name), `${name} is not declared`))
    else if (plan.kind === 'belongsTo') model.attributes.set(name, toOne(name, definition, modelOf(plan.target)))
  }
}

const toOne = (name: string, definition: AttributeDefinition, target: Model): Attribute => ({
  ...foreignKey(definition.columnName ?? name, target),
  name,
  columnType: definition.columnType ?? columnTypeOf(target),
  required: definition.required === true,
  nullable: isNullable(definition, false),
  unique: definition.unique === true,
})

/** Of the same type as the key it holds, and nothing else of that key: not its default, nor its rules. */
const foreignKey = (column: string, target: Model): Attribute => ({
  name: column,
  column,
  type: target.primaryKey.type,
  columnType: columnTypeOf(target),
  isPrimaryKey: false,
  required: true,
  nullable: false,
  unique: false,
  autoIncrement: false,
  generated: false,
  autoCreatedAt: false,
  autoUpdatedAt: false,
  defaultsTo: undefined,
  rules: [],
  schema: undefined,
  references: target,
})

/** What counts up there (`serial`) must not count up here. */
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
    associations: new Map(),
    isJunction: true,
  }
}

function association(
  name: string,
  plan: Plan,
  model: Model,
  modelOf: (draft: Draft) => Model,
  junctions: ReadonlyMap<string, Model>,
): Association {
  const target = modelOf(plan.target)
  if (plan.kind === 'belongsTo') return { kind: 'belongsTo', name, target, foreignKey: attributeOf(model, name) }
  if (plan.kind === 'hasMany') return { kind: 'hasMany', name, target, via: attributeOf(target, plan.via) }
  const junction =
    plan.kind === 'through'
      ? modelOf(plan.through)
      : must(junctions.get(plan.junction.table), `${plan.junction.table} was not linked`)
  const [near, far] = [attributeOf(junction, plan.near), attributeOf(junction, plan.far)]
  return { kind: 'manyToMany', name, target, junction, near, far }
}
