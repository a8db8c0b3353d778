import { and, type Condition, eq, isMatchAll, leavesOf, matchAll, not } from '../criteria/criteria.ts'
import { matches } from '../criteria/matches.ts'
import type { Assignment } from '../model/assignment.ts'
import type { Attribute, Index, Model, Models } from '../model/model.ts'
import { isValueTaken, ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Reads } from '../storage/store.ts'
import { valuesOf } from './condition-parts.ts'
import type { Access } from './policy.ts'

/** A write that an error may be about. */
export interface Attempt {
  readonly model: Model
  readonly assignments: readonly Assignment[]
  /** The records that the transaction has inserted before. Undefined for a write of one statement. */
  readonly inserted?: readonly Attempt[]
}

/**
 * A violation of uniqueness reveals that a record has the value. If the requester may not read that record, the error does not
 * name the attributes.
 */
export async function concealConflict(
  error: unknown,
  { model, assignments, inserted = [] }: Attempt,
  reads: Reads,
  access: Access,
): Promise<unknown> {
  if (!(error instanceof ServiceError)) return error
  const taken = takenAttributes(error, model)
  if (taken.length === 0) return error
  const contained = containedIn(taken, model)
  const compared = [...taken, ...leavesOf(contained).flatMap((leaf) => (leaf.kind === 'compare' ? leaf.attribute : []))]
  const readable = and(access.readable(model), ...compared.map((attribute) => access.mask(attribute) ?? matchAll))
  if (isMatchAll(readable)) return error
  const values = new Map(assignments.map(({ attribute, value }) => [attribute, value]))
  // If the write gives only some of the attributes of a unique index, the record that has the values cannot be looked up.
  if (!taken.every((attribute) => values.has(attribute))) return conflict(model)
  const has = and(...taken.map((attribute) => eq(attribute, values.get(attribute) as Json)), contained)
  // An earlier record of the same request has the values, so there is no other record to conceal.
  if (inserted.some((earlier) => earlier.model === model && matches(has, valuesOf(earlier.assignments)))) return error
  return (await reads.count(model, and(has, readable))) === 0 ? conflict(model) : error
}

/** The condition of the partial index on these attributes: it compares no other records. */
function containedIn(taken: readonly Attribute[], { indexes }: Model): Condition {
  if (taken.length === 1 && (taken[0]?.unique || taken[0]?.isPrimaryKey)) return matchAll
  const conditions = indexes
    .filter(({ unique, columns }) => unique && columns.length === taken.length)
    .filter(({ columns }) => columns.every(({ attribute }) => taken.includes(attribute)))
    .map(conditionOf)
  return conditions.length === 0 || conditions.some(isMatchAll) ? matchAll : { kind: 'or', conditions }
}

const conditionOf = ({ where }: Index): Condition =>
  and(
    ...where.map(({ attribute, operator, value }) =>
      operator === '='
        ? eq(attribute, value)
        : not({ kind: 'or', conditions: [eq(attribute, value), eq(attribute, null)] }),
    ),
  )

/** The attributes of the unique index that is violated. */
const takenAttributes = (error: ServiceError, model: Model): readonly Attribute[] =>
  [...model.attributes.values()].filter(({ name }) => isValueTaken(error, name))

const conflict = ({ name }: Model): ServiceError =>
  new ServiceError('E_CONFLICT', `This ${name} conflicts with another record`, { model: name })

/** Removes the names of attributes that the requester may neither read nor write from a validation error. */
export function concealNames(error: unknown, access: Access, models: Models): unknown {
  if (!(error instanceof ServiceError) || error.details.invalidAttributes === undefined) return error
  const { invalidAttributes, model: modelName } = error.details
  const model = modelName === undefined ? undefined : models.get(modelName)
  if (!model) return error
  const shown = Object.entries(invalidAttributes).filter(([path, [violation]]) => {
    const { owner, attribute } = attributeAt(path, model)
    // A name that the requester may not know is unknown to it, like one that does not exist.
    return (
      !attribute ||
      violation?.rule === 'unknown' ||
      access.views.of(owner).attributes.has(attribute.name) ||
      access.mayWrite(attribute)
    )
  })
  if (shown.length === Object.keys(invalidAttributes).length) return error
  if (shown.length === 0)
    return new ServiceError('E_FORBIDDEN', `You may not write this ${model.name}`, { model: model.name })
  const message = shown.map(([name, violations]) => `"${name}" ${violations[0]?.message}`).join('; ')
  return new ServiceError(error.code, message, { ...error.details, invalidAttributes: Object.fromEntries(shown) })
}

/** The attribute at a place in a body: `name`, or `pets.0.name` for that of a new record in it. */
function attributeAt(path: string, model: Model): { readonly owner: Model; readonly attribute: Attribute | undefined } {
  const names = path.split('.').filter((name) => !/^\d+$/.test(name))
  const owner = names.slice(0, -1).reduce((at, name) => at.associations.get(name)?.target ?? at, model)
  return { owner, attribute: owner.attributes.get(names.at(-1) ?? '') }
}
