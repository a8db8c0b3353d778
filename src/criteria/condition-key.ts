import type { Association } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import { ObjectCache } from '../support/object-cache.ts'
import type { Condition } from './criteria.ts'

const keys = new ObjectCache<Condition, string>()
const shapes = new ObjectCache<Condition, string>()

/**
 * The content of a condition as a text: two conditions on the same model have the same key exactly if they have the same
 * structure, attributes, operators and values. The order of parts and of list items counts.
 */
export const conditionKey = (condition: Condition): string =>
  getOrInsertComputed(keys, condition, () => write(condition, JSON.stringify))

/**
 * The structure of a condition as a text, without its values. Of a value it contains only whether it is null, empty, or
 * neither, because these compile to different SQL. Conditions of one shape have the same cost class and access rules.
 */
export const conditionShape = (condition: Condition): string =>
  getOrInsertComputed(shapes, condition, () => write(condition, valueClass))

/** Names are quoted and every combination is parenthesized, so that different conditions never have the same text. */
function write(condition: Condition, writeValue: (value: Json) => string): string {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return `${condition.kind}(${condition.conditions.map((part) => write(part, writeValue)).join()})`
    case 'not':
      return `not(${write(condition.condition, writeValue)})`
    case 'related':
      return `${pathOf(condition.association)}(${write(condition.condition, writeValue)})`
    case 'compare': {
      const { attribute, operator, operand } = condition
      return `${JSON.stringify(attribute.name)}${operator.name} ${writeValue(operand)}`
    }
  }
}

/** Includes the columns that are followed: the inverse of an association is not an attribute and may share its name. */
function pathOf(association: Association): string {
  const { kind, name, target } = association
  switch (kind) {
    case 'belongsTo':
      return JSON.stringify([name, target.name, association.foreignKey.name])
    case 'hasMany':
      return JSON.stringify([name, target.name, association.via.name, 'via'])
    case 'manyToMany':
      return JSON.stringify([name, target.name, association.junction.name, association.near.name, association.far.name])
  }
}

function valueClass(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return value.length === 0 ? '[]' : '[?]'
  return value === '' ? '""' : '?'
}
