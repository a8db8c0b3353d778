import {
  and,
  type Condition,
  type Criteria,
  isMatchAll,
  type Masks,
  matchAll,
  not,
  type Sort,
} from '../criteria/criteria.ts'
import {
  type Association,
  type Attribute,
  type HasMany,
  type ManyToMany,
  type Model,
  originalOf,
} from '../model/model.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'

/** What a requester may read: the input of everything in this file. */
export interface ReadAccess {
  /** The condition that a record must fulfil to exist for the requester. */
  readable(model: Model): Condition
  /** The condition under which the requester sees the attribute's value; undefined: always. */
  mask(attribute: Attribute): Condition | undefined
  /** Whether the attribute has a rule of its own. */
  isMaskable(attribute: Attribute): boolean
  /** Whether any attribute has. */
  readonly hasMasks: boolean
}

/*
 * Rewriting criteria so that they say of the readable data what they said of all: an unreadable record does not exist,
 * and a masked value is null. Positive comparisons keep their index: the mask is a further condition.
 */

export function guardCriteria(criteria: Criteria, model: Model, access: ReadAccess): Criteria {
  const masks = masksOf(criteria, access)
  return {
    ...criteria,
    where: and(access.readable(model), guardCondition(criteria.where, access)),
    sort: criteria.sort.map((sort) => guardSort(sort, access)),
    ...(masks && { masks }),
  }
}

/** As `guardCriteria`, for the members of an association: also the foreign key or the row of the junction must be readable. */
export function guardMembers(criteria: Criteria, association: Association, access: ReadAccess): Criteria {
  const guarded = guardCriteria(criteria, association.target, access)
  switch (association.kind) {
    case 'belongsTo':
      return guarded
    case 'hasMany': {
      const isReadableKey = access.mask(association.via)
      return isReadableKey ? { ...guarded, where: and(isReadableKey, guarded.where) } : guarded
    }
    case 'manyToMany': {
      const junction = junctionCondition(association, access)
      return isMatchAll(junction) ? guarded : { ...guarded, junction }
    }
  }
}

export function guardCondition(condition: Condition, access: ReadAccess): Condition {
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const conditions = condition.conditions.map((part) => guardCondition(part, access))
      return { kind: condition.kind, conditions }
    }
    case 'not':
      return not(guardCondition(condition.condition, access))
    case 'related':
      return guardRelated(condition.association, guardCondition(condition.condition, access), access)
    case 'compare': {
      const { attribute, operator, operand } = condition
      const mask = access.mask(attribute)
      if (!mask) return condition
      // What a comparison says of null it says of every value that is masked.
      return operator.matches(null, operand, attribute)
        ? { kind: 'or', conditions: [condition, not(mask)] }
        : and(mask, condition)
    }
  }
}

const originals = new WeakMap<Association, Association>()

/** The association with the target itself instead of a view of it, always the same object: what is compiled is found by it. */
export function originalAssociation(association: Association): Association {
  const { original } = association.target
  return original
    ? getOrInsertComputed(originals, association, () => ({ ...association, target: original }))
    : association
}

/** Only records that the requester may read are related, and only by keys that it may read. */
function guardRelated(named: Association, inner: Condition, access: ReadAccess): Condition {
  const association = originalAssociation(named)
  const condition = and(access.readable(association.target), inner)
  switch (association.kind) {
    case 'belongsTo':
      return and(access.mask(association.foreignKey) ?? matchAll, { kind: 'related', association, condition })
    case 'hasMany': {
      const isReadableKey = access.mask(association.via) ?? matchAll
      return { kind: 'related', association, condition: and(isReadableKey, condition) }
    }
    case 'manyToMany': {
      const rows = junctionCondition(association, access)
      return isMatchAll(rows)
        ? { kind: 'related', association, condition }
        : throughJunction(association, rows, condition)
    }
  }
}

/** The same relation in two steps, so that the rows of a junction with rules of its own are read like any record. */
function throughJunction(
  { name, junction, near, far, target }: ManyToMany,
  rows: Condition,
  condition: Condition,
): Condition {
  const toTarget: Condition = {
    kind: 'related',
    association: { kind: 'belongsTo', name: far.name, target, foreignKey: far },
    condition,
  }
  const toRows: HasMany = { kind: 'hasMany', name, target: junction, via: near }
  return { kind: 'related', association: toRows, condition: and(rows, toTarget) }
}

/** The condition on the rows of a junction that lead to members. */
export const junctionCondition = ({ junction, near, far }: ManyToMany, access: ReadAccess): Condition =>
  junction.isJunction
    ? matchAll
    : and(access.readable(junction), access.mask(near) ?? matchAll, access.mask(far) ?? matchAll)

function guardSort(sort: Sort, access: ReadAccess): Sort {
  const { attribute, through } = sort
  const own = access.mask(through ? through.foreignKey : attribute)
  if (!through) return own ? { ...sort, mask: own } : sort
  const target = originalOf(through.target)
  const readable = and(access.readable(target), access.mask(attribute) ?? matchAll)
  return {
    ...sort,
    through: { ...through, target },
    ...(own && { mask: own }),
    ...(isMatchAll(readable) ? {} : { throughMask: readable }),
  }
}

/**
 * The masks of the selected attributes. Those of sorted attributes are applied where the list is sorted, and belong to these
 * only where a computed attribute is selected, which may read such an attribute as it is stored.
 */
function masksOf({ select, sort }: Criteria, access: ReadAccess): Masks | undefined {
  if (!access.hasMasks) return undefined
  const masks = new Map<Attribute, Condition>()
  const add = (attribute: Attribute) => {
    const mask = access.mask(attribute)
    if (mask) masks.set(attribute, mask)
  }
  for (const attribute of select) add(attribute)
  if (select.some(({ computed }) => computed)) for (const { attribute, through } of sort) if (!through) add(attribute)
  return masks.size === 0 ? undefined : masks
}
