import { findKey } from '../criteria/criteria.ts'
import type { Assignment } from '../model/assignment.ts'
import { missingReference, missingTarget } from '../model/missing-target.ts'
import type { Attribute, Model } from '../model/model.ts'
import { clientDisconnected, ServiceError, type Violation } from '../protocol/errors.ts'
import { DatabaseError, type DatabaseErrorKind } from './driver.ts'
import { answerTooLarge, type Reads } from './store.ts'

/** What a failed statement was about. */
export interface ErrorSubject {
  readonly model: Model
  readonly assignments: readonly Assignment[]
  /** A read: what the database refuses is a value of its conditions. */
  readonly isRead?: true
}

/** Records the subject of a statement in its error; the innermost one is kept. */
export function annotateError(error: unknown, subject: ErrorSubject): unknown {
  if (error instanceof DatabaseError) error.subject ??= subject
  return error
}

/** Why the database has refused what became this error of a request. */
export const reasonOf = (error: unknown): DatabaseErrorKind | undefined =>
  error instanceof ServiceError && error.cause instanceof DatabaseError ? error.cause.reason : undefined

/** An insert without an error and without a row. */
export const notStored = ({ name }: Model): ServiceError =>
  new ServiceError('E_BAD_REQUEST', `A trigger of the database did not store the ${name}`, { model: name })

/** A DatabaseError as a ServiceError that names model and attributes. Other errors are returned unchanged. */
export async function toServiceError(error: unknown, reads: Reads): Promise<unknown> {
  if (!(error instanceof DatabaseError)) return error
  const { reason, subject } = error
  return subject
    ? describe(error, subject, reads)
    : (unavailable(reason, error) ?? refusedCommit(reason, error) ?? error)
}

/**
 * The same within a transaction, which cannot read after an error. Of several references, all are named when the database
 * does not say which one has no target.
 */
export const toServiceErrorWithin = (error: unknown): Promise<unknown> => toServiceError(error, everyTarget)

const everyTarget = { find: () => ({ length: 1 }) } as unknown as Reads

async function describe(
  error: DatabaseError,
  { model, assignments, isRead }: ErrorSubject,
  reads: Reads,
): Promise<unknown> {
  const { reason } = error
  switch (reason.kind) {
    case 'unique': {
      const found = uniqueViolations(model, reason, assignments)
      if (found.length > 0) return invalid(model, found, error)
      const message = `A ${model.name} with these values exists already`
      return new ServiceError('E_BAD_REQUEST', message, { model: model.name, cause: error })
    }
    case 'foreignKey': {
      const missing = await danglingReferences(model, assignments, reads)
      if (missing.length > 0) return invalid(model, missing, error)
      const assigned = assignedReferences(model, assignments, reason.columns)
      if (assigned.length > 0) return invalid(model, assigned, error)
      const undeclared = assignments.filter(({ attribute }) => reason.columns?.includes(attribute.column))
      if (undeclared.length > 0)
        return invalid(
          model,
          undeclared.map(({ attribute }) => [attribute, missingTarget('row')]),
          error,
        )
      // SQLite names no columns.
      const isEither = assignments.length > 0 && reason.columns === undefined
      const message = `Other records reference this ${model.name}${isEither ? ', or a value of it names no existing row' : ''}`
      return new ServiceError('E_CONFLICT', message, { model: model.name, cause: error })
    }
    case 'notNull': {
      const attribute = [...model.attributes.values()].find(({ column }) => column === reason.column)
      return attribute
        ? invalid(model, [[attribute, { rule: 'required', message: 'must have a value' }]], error)
        : new ServiceError('E_CONFLICT', 'The database requires a value for a column without an attribute', {
            cause: error,
          })
    }
    case 'value': {
      if (isRead) {
        const message = 'The database cannot compare a value of the conditions with its column'
        return new ServiceError('E_BAD_CRITERIA', message, { model: model.name, cause: error })
      }
      // The statement of a write begins with the values of its assignments.
      const refused = reason.parameter === undefined ? undefined : assignments[reason.parameter - 1]
      if (refused) return invalid(model, [[refused.attribute, ofOtherType]], error)
      const message =
        assignments.length > 0
          ? 'The database cannot store one of the values'
          : 'The database does not allow this change'
      return new ServiceError('E_BAD_REQUEST', message, { model: model.name, cause: error })
    }
    case 'deferrable': {
      const message = `A ${model.name} that may exist already cannot be inserted: the unique constraint "${reason.constraint}" is deferrable`
      return new ServiceError('E_CONFLICT', message, { model: model.name, cause: error })
    }
    case 'complex': {
      const message = 'The conditions are too complex for the database'
      return new ServiceError('E_BAD_CRITERIA', message, { model: model.name, cause: error })
    }
    case 'large':
      return answerTooLarge(reason.maxAnswerBytes)
    default:
      return unavailable(reason, error) ?? error
  }
}

/** A deferred constraint is checked by the commit, which belongs to none of the statements. */
function refusedCommit({ kind }: DatabaseErrorKind, cause: unknown): ServiceError | undefined {
  switch (kind) {
    case 'unique':
      return new ServiceError('E_CONFLICT', 'A record with these values exists already', { cause })
    case 'foreignKey':
      return new ServiceError('E_CONFLICT', 'A record would refer to one that does not exist', { cause })
    case 'notNull':
    case 'value':
      return new ServiceError('E_CONFLICT', 'The database does not allow these changes', { cause })
  }
}

/** Failures that do not depend on the request: a retry may succeed. */
function unavailable({ kind }: DatabaseErrorKind, cause: unknown): ServiceError | undefined {
  switch (kind) {
    case 'busy':
      return new ServiceError('E_UNAVAILABLE', 'The database is busy', { headers: { 'Retry-After': '1' }, cause })
    case 'full':
      return new ServiceError('E_UNAVAILABLE', 'The database has no space left', {
        headers: { 'Retry-After': '10' },
        cause,
      })
    case 'lost':
      return new ServiceError('E_UNAVAILABLE', 'The database cannot be reached', {
        headers: { 'Retry-After': '2' },
        cause,
      })
    case 'timeout':
      return new ServiceError('E_TIMEOUT', 'The database statement exceeded its time limit', {
        limit: 'statementTimeoutMs',
        cause,
      })
    case 'aborted':
      return clientDisconnected(cause)
    case 'missing':
      return new ServiceError('E_UNAVAILABLE', 'The database lacks a table or a column of the models', { cause })
    case 'refused':
      return new ServiceError('E_UNAVAILABLE', 'The database refuses the operation', { cause })
  }
}

/** Of an enumeration, a domain, or another type whose values the model does not know. */
const ofOtherType: Violation = { rule: 'type', message: 'is no value of the type of its column' }

type Found = readonly [attribute: Attribute, violation: Violation]

function invalid(model: Model, found: readonly Found[], cause: unknown): ServiceError {
  const invalidAttributes = Object.fromEntries(found.map(([attribute, violation]) => [attribute.name, [violation]]))
  const names = Map.groupBy(found, ([, { message }]) => message)
  const messages = [...names].map(([message, attributes]) => {
    const quoted = attributes.map(([{ name }]) => `"${name}"`)
    return `${quoted.join(' and ')} of ${model.name} ${message}`
  })
  const message = messages.join('; ')
  return new ServiceError('E_INVALID_ATTRIBUTES', message, { model: model.name, invalidAttributes, cause })
}

function uniqueViolations(
  model: Model,
  fault: DatabaseErrorKind & { kind: 'unique' },
  assignments: readonly Assignment[],
): readonly Found[] {
  const named = [...model.attributes.values()].filter(({ column }) => fault.columns.includes(column))
  const attributes = named.length > 0 ? named : assignedUniques(model, assignments)
  const message =
    attributes.length === 1
      ? 'must be unique: another record has this value'
      : 'must be unique together: another record has these values'
  return attributes.map((attribute) => [attribute, { rule: 'unique', message }])
}

/** An index over an expression is named without its columns. */
function assignedUniques(model: Model, assignments: readonly Assignment[]): readonly Attribute[] {
  const assigned = new Set(assignments.map(({ attribute }) => attribute))
  const unique = [...assigned].filter((attribute) => attribute.unique)
  const together = model.indexes
    .filter(({ unique, columns }) => unique && columns.some(({ attribute }) => assigned.has(attribute)))
    .flatMap(({ columns }) => columns.map(({ attribute }) => attribute))
  return [...new Set([...unique, ...together])]
}

/**
 * A write that assigns references violates one of them. It exists now where the transaction that failed had deleted it; then
 * those of the columns that the database names, or all of them, are reported.
 */
function assignedReferences(
  model: Model,
  assignments: readonly Assignment[],
  columns: readonly string[] = [],
): readonly Found[] {
  const references = assignments.filter(({ attribute, value }) => attribute.references && value !== null)
  const named = references.filter(({ attribute }) => columns.includes(attribute.column))
  return (named.length > 0 ? named : references).map(({ attribute, value }) => [
    attribute,
    missingReference(attribute, value, model),
  ])
}

/** Not every database names the violated foreign key, so each assigned reference is looked up. */
async function danglingReferences(
  model: Model,
  assignments: readonly Assignment[],
  reads: Reads,
): Promise<readonly Found[]> {
  const found: Found[] = []
  for (const { attribute, value } of assignments) {
    if (!attribute.references || value === null) continue
    const target = attribute.references
    if ((await reads.find(target, findKey(target, value))).length === 0) {
      found.push([attribute, missingReference(attribute, value, model)])
    }
  }
  return found
}
