import { type Comparison, type Condition, leavesOf, matchAll, matchNone } from '../criteria/criteria.ts'
import { isComparedByColumn } from '../criteria/is-compared-by-column.ts'
import { isLongText } from '../criteria/matches-in-turns.ts'
import type { Assignment } from '../model/assignment.ts'
import type { Attribute } from '../model/model.ts'
import type { Json, JsonObject } from '../protocol/json.ts'

/** Whether a condition asks about the record's own attributes only, and only about those that `isKnown` accepts. */
export const isLocal = (condition: Condition, isKnown: (attribute: Attribute) => boolean = () => true): boolean =>
  // A computed value changes with others, and a record need not contain what it depends on.
  leavesOf(condition).every(
    (leaf) =>
      leaf.kind === 'compare' && !leaf.attribute.computed && !isComparedByColumn(leaf) && isKnown(leaf.attribute),
  )

/** The values of the assignments by name. */
export const valuesOf = (assignments: readonly Assignment[]): JsonObject =>
  Object.fromEntries(assignments.map(({ attribute, value }): [string, Json] => [attribute.name, value]))

/**
 * What a local condition will say of a record after the assignments, as a condition on the record before them: each
 * comparison of an assigned attribute is decided now.
 */
export function afterAssignments(condition: Condition, values: JsonObject): Condition {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return { kind: condition.kind, conditions: condition.conditions.map((part) => afterAssignments(part, values)) }
    case 'not':
      return { kind: 'not', condition: afterAssignments(condition.condition, values) }
    case 'related':
      throw new Error('Bug in keelson: a condition through an association is not local')
    case 'compare': {
      const { attribute, operator, operand } = condition
      if (!Object.hasOwn(values, attribute.name)) return condition
      return operator.matches(values[attribute.name] as Json, operand, attribute) ? matchAll : matchNone
    }
  }
}

/** The models whose records decide a condition, the one that it is about not included. */
export function modelsIn(condition: Condition, found: Set<string> = new Set()): ReadonlySet<string> {
  for (const leaf of leavesOf(condition)) {
    if (leaf.kind === 'compare') continue
    const { association } = leaf
    found.add(association.target.name)
    if (association.kind === 'manyToMany') found.add(association.junction.name)
    modelsIn(leaf.condition, found)
  }
  return found
}

/**
 * Whether a row of another model may be one that decides a condition: somewhere on its path, the row's own values do not
 * exclude it. Without an image it is no row.
 */
export function mayFulfil(condition: Condition, model: string, image: JsonObject | undefined): boolean {
  if (image === undefined) return false
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.some((part) => mayFulfil(part, model, image))
    case 'not':
      return mayFulfil(condition.condition, model, image)
    case 'related': {
      const { association, condition: inner } = condition
      if (association.kind === 'manyToMany' && association.junction.name === model) return true
      if (association.target.name === model && isPossible(inner, image)) return true
      return mayFulfil(inner, model, image)
    }
    case 'compare':
      return false
  }
}

/**
 * Whether a record with these values can fulfil a condition, whatever is related to it. Images hold no hidden attributes, and long
 * texts are not searched: to take them for possible costs less.
 */
export function isPossible(condition: Condition, image: JsonObject): boolean {
  const isKnown = (attribute: Attribute): boolean => isInImages(attribute) && !isLongText(image[attribute.name])
  switch (condition.kind) {
    case 'and':
      return condition.conditions.every((part) => isPossible(part, image))
    case 'or':
      return condition.conditions.some((part) => isPossible(part, image))
    case 'not':
      return !isLocal(condition.condition, isKnown) || !isPossible(condition.condition, image)
    case 'related':
      return true
    case 'compare': {
      const { attribute, operator, operand } = condition
      return (
        !isKnown(attribute) ||
        isComparedByColumn(condition) ||
        operator.matches(image[attribute.name] ?? null, operand, attribute)
      )
    }
  }
}

/** Whether the comparison can be decided by the images of changes, and by records. */
export const isDecidedByImages = (comparison: Comparison): boolean =>
  isInImages(comparison.attribute) && !isComparedByColumn(comparison)

/** Whether images contain the attribute, with a text that tells whether two values are the same. */
export const isInImages = (attribute: Attribute): boolean => !attribute.hidden && !attribute.stored.foldsText
