import type { Json } from '../protocol/json.ts'
import { type Association, type Attribute, everyAttribute, type Index, type Model, type Models } from './model.ts'

/** The models as plain JSON, for documentation and for programs that generate forms. Without junctions. */
export function describe(models: Models): Json {
  return { models: [...models.values()].filter(({ isJunction }) => !isJunction).map(describeModel) }
}

const describeModel = (model: Model): Json => ({
  name: model.name,
  table: model.table,
  primaryKey: model.primaryKey.name,
  attributes: shownAttributes(model).map((attribute) => describeAttribute(attribute, model)),
  associations: [...model.associations.values()].map(describeAssociation),
  indexes: model.indexes.filter((index) => isVisible(index, model)).map(describeIndex),
})

/** Of a view of a model, those that it has. */
const shownAttributes = (model: Model): readonly Attribute[] => everyAttribute(model).filter(({ hidden }) => !hidden)

const describeAttribute = (attribute: Attribute, model: Model): Json => ({
  name: attribute.name,
  ...(attribute.computed
    ? {
        computed: attribute.computed.from
          .filter((source) => shownAttributes(model).includes(source))
          .map(({ name }) => name),
        searchable: attribute.computed.sql !== undefined,
      }
    : { column: attribute.column }),
  type: attribute.type.name,
  ...(attribute.columnType !== undefined && { columnType: attribute.columnType }),
  required: attribute.required && !attribute.stored.isComputed,
  nullable: attribute.nullable,
  unique: attribute.unique,
  automatic: isAutomatic(attribute),
  ...(attribute.defaultsTo !== undefined &&
    typeof attribute.defaultsTo !== 'function' && { defaultsTo: attribute.defaultsTo }),
  ...(attribute.references !== undefined && { references: attribute.references.name }),
  rules: Object.fromEntries(attribute.rules.map(({ name, expects }) => [name, expects ?? true])),
})

/** Whether an omitted attribute of a new record gets a value other than null. */
const isAutomatic = ({
  autoIncrement,
  generated,
  autoCreatedAt,
  autoUpdatedAt,
  defaultsTo,
  stored,
}: Attribute): boolean =>
  autoIncrement || generated || autoCreatedAt || autoUpdatedAt || stored.isComputed || defaultsTo !== undefined

const isVisible = ({ columns, where }: Index, model: Model): boolean =>
  [...columns, ...where].every(({ attribute }) => shownAttributes(model).includes(attribute))

const describeIndex = ({ columns, unique, where }: Index): Json => ({
  attributes: columns.map(({ attribute, direction }) =>
    direction === 'asc' ? attribute.name : `${attribute.name} DESC`,
  ),
  unique,
  ...(where.length > 0 && {
    where: Object.fromEntries(
      where.map(({ attribute, operator, value }) => [attribute.name, operator === '=' ? value : { '!=': value }]),
    ),
  }),
})

function describeAssociation(association: Association): Json {
  const { kind, name, target } = association
  const common = { name, kind, target: target.name }
  switch (kind) {
    case 'belongsTo':
      return common
    case 'hasMany':
      return { ...common, ...(!association.via.hidden && { via: association.via.name }) }
    case 'manyToMany':
      return { ...common, through: association.junction.name }
  }
}
