import { oneByKey } from '../criteria/criteria.ts'
import type { Assignment } from '../model/assignment.ts'
import type { Attribute, Model } from '../model/model.ts'
import { ServiceError, type Violation } from '../protocol/errors.ts'
import { DatabaseError, type Fault } from './driver.ts'
import type { Reads } from './store.ts'

/** What a database complained of, as an error in the words of the model it was about. Errors of other kinds pass as they are. */
export async function explain(error: unknown, reads: Reads): Promise<unknown> {
  if (!(error instanceof DatabaseError)) return error
  const { fault, about } = error
  return about ? inWords(error, about.model, about.assignments, reads) : (unavailable(fault, error) ?? error)
}

async function inWords(
  error: DatabaseError,
  model: Model,
  assignments: readonly Assignment[],
  reads: Reads,
): Promise<unknown> {
  const { fault } = error
  switch (fault.kind) {
    case 'unique': {
      const found = taken(model, fault, assignments)
      if (found.length > 0) return invalid(model, found, error)
      const message = `The database takes this ${model.name} for one that is there already`
      return new ServiceError('E_BAD_REQUEST', message, { model: model.name, cause: error })
    }
    case 'foreignKey': {
      const missing = await missingTargets(assignments, reads)
      if (missing.length > 0) return invalid(model, missing, error)
      return new ServiceError('E_CONFLICT', `Other records point to this ${model.name}`, {
        model: model.name,
        cause: error,
      })
    }
    case 'notNull': {
      const attribute = [...model.attributes.values()].find(({ column }) => column === fault.column)
      return attribute
        ? invalid(model, [[attribute, { rule: 'required', message: 'must have a value' }]], error)
        : new ServiceError('E_CONFLICT', 'The database wants a value that no attribute holds', { cause: error })
    }
    case 'value': {
      const message = 'A value is not one that the database can hold'
      return new ServiceError('E_BAD_REQUEST', message, { model: model.name, cause: error })
    }
    default:
      return unavailable(fault, error) ?? error
  }
}

/** It is nobody's mistake, and another time it may work. */
function unavailable({ kind }: Fault, cause: unknown): ServiceError | undefined {
  switch (kind) {
    case 'busy':
      return new ServiceError('E_UNAVAILABLE', 'The database is busy', { headers: { 'Retry-After': '1' }, cause })
    case 'lost':
      return new ServiceError('E_UNAVAILABLE', 'The database cannot be reached', {
        headers: { 'Retry-After': '2' },
        cause,
      })
    case 'timeout':
      return new ServiceError('E_TIMEOUT', 'The database took too long', { limit: 'statementTimeoutMs', cause })
    case 'refused':
      return new ServiceError('E_UNAVAILABLE', 'The database does not take this now', { cause })
  }
}

type Found = readonly [attribute: Attribute, violation: Violation]

function invalid(model: Model, found: readonly Found[], cause: unknown): ServiceError {
  const invalidAttributes = Object.fromEntries(found.map(([attribute, violation]) => [attribute.name, [violation]]))
  const names = Object.keys(invalidAttributes).map((name) => `"${name}"`)
  const message = `${names.join(' and ')} of ${model.name} ${found[0]?.[1].message}`
  return new ServiceError('E_INVALID_ATTRIBUTES', message, { model: model.name, invalidAttributes, cause })
}

function taken(model: Model, fault: Fault & { kind: 'unique' }, assignments: readonly Assignment[]): readonly Found[] {
  const named = [...model.attributes.values()].filter(({ column }) => fault.columns.includes(column))
  const attributes =
    named.length > 0 ? named : assignments.filter(({ attribute }) => attribute.unique).map((a) => a.attribute)
  return attributes.map((attribute) => [attribute, { rule: 'unique', message: 'has a value that is taken already' }])
}

/** Databases do not all say which foreign key it was, so those that were given are looked up. */
async function missingTargets(assignments: readonly Assignment[], reads: Reads): Promise<readonly Found[]> {
  const found: Found[] = []
  for (const { attribute, value } of assignments) {
    if (!attribute.references || value === null) continue
    const target = attribute.references
    if ((await reads.find(target, oneByKey(target, value))).length === 0) {
      found.push([attribute, { rule: 'exists', message: `names a ${target.name} that does not exist` }])
    }
  }
  return found
}
