import type { Json } from '../protocol/json.ts'
import type { Association, Attribute, Model, Models } from './model.ts'

/** The models as plain JSON, for people and for programs that draw forms from it. Junctions are not served, nor here. */
export function describe(models: Models): Json {
  return { models: [...models.values()].filter(({ isJunction }) => !isJunction).map(describeModel) }
}

const describeModel = (model: Model): Json => ({
  name: model.name,
  table: model.table,
  primaryKey: model.primaryKey.name,
  attributes: [...model.attributes.values()].map(describeAttribute),
  associations: [...model.associations.values()].map(describeAssociation),
})

const describeAttribute = (attribute: Attribute): Json => ({
  name: attribute.name,
  column: attribute.column,
  type: attribute.type.name,
  ...(attribute.columnType !== undefined && { columnType: attribute.columnType }),
  required: attribute.required,
  nullable: attribute.nullable,
  unique: attribute.unique,
  automatic: isAutomatic(attribute),
  ...(attribute.defaultsTo !== undefined &&
    typeof attribute.defaultsTo !== 'function' && { defaultsTo: attribute.defaultsTo }),
  ...(attribute.references !== undefined && { references: attribute.references.name }),
  rules: Object.fromEntries(attribute.rules.map(({ name, expects }) => [name, expects ?? true])),
})

/** Whoever makes a record may leave it out, and gets more than null. */
const isAutomatic = ({ autoIncrement, generated, autoCreatedAt, autoUpdatedAt, defaultsTo }: Attribute): boolean =>
  autoIncrement || generated || autoCreatedAt || autoUpdatedAt || defaultsTo !== undefined

function describeAssociation(association: Association): Json {
  const { kind, name, target } = association
  const common = { name, kind, target: target.name }
  switch (kind) {
    case 'belongsTo':
      return common
    case 'hasMany':
      return { ...common, via: association.via.name }
    case 'manyToMany':
      return { ...common, through: association.junction.name }
  }
}
