import { ServiceError, type Violation } from '../protocol/errors.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { withinHookTime } from '../protocol/within-hook-time.ts'
import type { Clock } from '../support/clock.ts'
import type { Limits } from '../support/limits.ts'
import { isPromise, type MaybePromise } from '../support/maybe-promise.ts'
import type { Assignment } from './assignment.ts'
import type { AttributeType } from './attribute-type.ts'
import { leavesNoKeys } from './largest-given-key.ts'
import { type Attribute, type Model, originalOf } from './model.ts'
import { parseValue } from './parse-value.ts'
import type { StandardSchema } from './standard-schema.ts'
import { maxJsonDepth, unstorable } from './storable.ts'
import { timestampFor } from './timestamp.ts'
import { type SchemaResult, validateBySchema } from './validate-by-schema.ts'
import { isLarger } from './value-size.ts'

export type Purpose = 'create' | 'update'

/** Values by attribute name. The caller guarantees that all names are attributes of the model. */
export type Values = ReadonlyMap<string, Json> | JsonObject

/** The inputs of a validation besides values and model. */
export interface ValidationContext {
  readonly clock: Clock
  /** A new UUID, for an omitted key. */
  readonly uuid: () => string
  readonly limits: Pick<Limits, 'maxValueBytes' | 'hookTimeoutMs'>
}

/**
 * Validates values and returns assignments in the order of the model. Throws one E_INVALID_ATTRIBUTES with all violations.
 * For `create`, each attribute is assigned: the value, its default, a timestamp, a key, or null; only a key that the database
 * generates is not, nor what it computes. For `update`, the given attributes and the time of the update are assigned. Attributes in `except` are
 * not assigned: their values are known later.
 */
export function validate(
  model: Model,
  values: Values,
  purpose: Purpose,
  context: ValidationContext,
  except?: ReadonlySet<Attribute>,
): MaybePromise<Assignment[]> {
  const given =
    values instanceof Map ? values : new Map(Object.entries(values).filter(([, value]) => value !== undefined))
  const validation: Validation = {
    model,
    context,
    assignments: [],
    invalid: undefined,
    pending: undefined,
    atMs: undefined,
    timestampType: undefined,
    timestamp: null,
  }
  const { assignments } = validation
  let accepted = 0
  for (const step of cachedSteps.get(model) ?? stepsOf(model)) {
    const { attribute } = step
    if (except?.has(attribute)) continue
    const raw = given.get(step.name)
    if (attribute.stored.isComputed) {
      if (raw === undefined) continue
      accepted++
      refuse(validation, attribute, computed.violations)
      continue
    }
    if (raw === undefined) {
      if (purpose === 'create') assignOmitted(validation, step)
      else if (attribute.autoUpdatedAt) assignments.push({ attribute, value: timestamp(validation, attribute) })
      continue
    }
    accepted++
    const value = accept(step, raw, context.limits.maxValueBytes)
    if (value instanceof ValidationFailure) refuse(validation, attribute, value.violations)
    else if (attribute.schema === undefined || value === null) assignments.push({ attribute, value })
    else applySchema(validation, attribute, value, (violations) => refuse(validation, attribute, violations))
  }
  if (accepted !== given.size) throw new Error(`Bug in keelson: values for ${model.name} contain unknown attributes`)
  if (validation.pending) return Promise.all(validation.pending).then(() => finish(validation))
  return validation.invalid === undefined ? assignments : finish(validation)
}

/** The state of one validation. */
interface Validation {
  readonly model: Model
  readonly context: ValidationContext
  readonly assignments: Assignment[]
  invalid: { [attribute: string]: readonly Violation[] } | undefined
  /** Asynchronous schemas. */
  pending: Promise<void>[] | undefined
  atMs: number | undefined
  /** The last timestamp and its type: most records have two of one type. */
  timestampType: AttributeType | undefined
  timestamp: Json
}

/** Assigns the value of an omitted attribute of a new record. */
function assignOmitted(validation: Validation, step: ValidationStep): void {
  const { attribute } = step
  switch (step.whenOmitted) {
    case 'generated':
      break
    case 'timestamp':
      validation.assignments.push({ attribute, value: timestamp(validation, attribute) })
      break
    case 'uuid':
      validation.assignments.push({ attribute, value: validation.context.uuid() })
      break
    case 'call':
      assignDefault(validation, step, attribute.defaultsTo as () => Json)
      break
    case 'constant':
      validation.assignments.push(step.constant)
      break
    case 'refused':
      refuse(validation, attribute, missing.violations)
      break
  }
}

/** All timestamps of one write are equal. */
function timestamp(validation: Validation, attribute: Attribute): Json {
  validation.atMs ??= validation.context.clock.now()
  if (validation.timestampType !== attribute.type) {
    validation.timestampType = attribute.type
    validation.timestamp = timestampFor(attribute, validation.atMs)
  }
  return validation.timestamp
}

/** An invalid default is an error of the declaration, not of the request. */
function assignDefault(validation: Validation, step: ValidationStep, makeDefault: () => Json): void {
  const { attribute } = step
  const fail = ([violation]: readonly Violation[]): never => {
    throw new Error(`\`defaultsTo\` of ${validation.model.name}.${attribute.name} ${violation?.message}`)
  }
  const value = accept(step, makeDefault(), validation.context.limits.maxValueBytes)
  if (value instanceof ValidationFailure) fail(value.violations)
  else if (attribute.schema === undefined || value === null) validation.assignments.push({ attribute, value: value })
  else applySchema(validation, attribute, value, fail)
}

/** Applies the schema. Its output replaces the value, also when the schema is asynchronous. */
function applySchema(
  validation: Validation,
  attribute: Attribute,
  value: Json,
  onFailure: (violations: readonly Violation[]) => void,
): void {
  const index = validation.assignments.push({ attribute, value }) - 1
  const settle = (result: SchemaResult): void => {
    if ('violations' in result) {
      onFailure(result.violations)
      return
    }
    if (result.value === null && !attribute.nullable) {
      throw new Error(`The output of the \`schema\` of ${validation.model.name}.${attribute.name} is null`)
    }
    validation.assignments[index] = { attribute, value: result.value }
  }
  const { model, context } = validation
  const what = `The schema of ${model.name}.${attribute.name}`
  const validated = validateBySchema(attribute.schema as StandardSchema, attribute.type, value)
  const result = withinHookTime(validated, what, context.limits)
  if (!isPromise(result)) {
    settle(result)
    return
  }
  const settled = result.then(settle)
  // `Promise.all` reports a failure. If another one failed first, this one must not be an unhandled rejection.
  settled.catch(() => undefined)
  validation.pending ??= []
  validation.pending.push(settled)
}

function refuse(validation: Validation, attribute: Attribute, violations: readonly Violation[]): void {
  validation.invalid ??= {}
  validation.invalid[attribute.name] = violations
}

/** The error for a new record without a value that it must have. */
export const missingValue = ({ name: model }: Model, { name }: Attribute): ServiceError =>
  new ServiceError('E_INVALID_ATTRIBUTES', `${name} ${missing.violations[0]?.message}`, {
    model,
    invalidAttributes: { [name]: missing.violations },
  })

function finish({ model, assignments, invalid }: Validation): Assignment[] {
  if (invalid === undefined) return assignments
  const sentences = Object.entries(invalid).flatMap(([name, violations]) =>
    violations.map(({ message }) => `${name} ${message}`),
  )
  throw new ServiceError('E_INVALID_ATTRIBUTES', sentences.join('; '), {
    model: model.name,
    invalidAttributes: invalid,
  })
}

/** The part of a validation that depends only on the attribute. */
interface ValidationStep {
  readonly name: string
  readonly attribute: Attribute
  readonly isSized: boolean
  readonly refusesEmpty: boolean
  readonly ofWrongType: ValidationFailure
  readonly isText: boolean
  readonly whenOmitted: 'generated' | 'timestamp' | 'uuid' | 'call' | 'constant' | 'refused'
  readonly constant: Assignment
}

/** The violations of a refused value. */
export class ValidationFailure {
  readonly violations: readonly Violation[]

  constructor(violations: readonly Violation[]) {
    this.violations = violations
  }
}

const missing = new ValidationFailure([{ rule: 'required', message: 'is required' }])
const computed = new ValidationFailure([
  { rule: 'readOnly', message: 'is computed by the database and cannot be written' },
])
const empty = new ValidationFailure([{ rule: 'required', message: 'must not be empty' }])
const unstorableJson = `must be JSON, ${unstorable}, and must not be nested deeper than ${maxJsonDepth} levels`
const unstorableText = new ValidationFailure([{ rule: 'type', message: unstorable }])
const tooLargeKey = new ValidationFailure([{ rule: 'max', message: 'is too large: generated keys continue after it' }])
const notNull = new ValidationFailure([{ rule: 'allowNull', message: 'must not be null' }])

/** Models are immutable, so that derived values are cached for their lifetime. */
const cachedSteps = new WeakMap<Model, readonly ValidationStep[]>()

/** The steps of a view are those of its model: what a requester may not read gets a value as well. */
export function stepsOf(model: Model): readonly ValidationStep[] {
  let steps = cachedSteps.get(model)
  if (steps === undefined) {
    steps = [...originalOf(model).attributes.values()].map(stepFor)
    cachedSteps.set(model, steps)
  }
  return steps
}

function stepFor(attribute: Attribute): ValidationStep {
  const { name, type, defaultsTo } = attribute
  const { storedAs, noun } = type
  const constant = typeof defaultsTo === 'function' ? undefined : defaultsTo
  return {
    name,
    attribute,
    isSized: storedAs === 'text' || storedAs === 'json' || storedAs === 'binary',
    // An empty key could not be part of a path.
    refusesEmpty: attribute.required || attribute.isPrimaryKey,
    ofWrongType: new ValidationFailure([
      { rule: 'type', message: storedAs === 'json' ? unstorableJson : `must be ${noun}` },
    ]),
    isText: storedAs === 'text',
    whenOmitted: whenOmitted(attribute),
    constant: { attribute, value: constant ?? null },
  }
}

function whenOmitted(attribute: Attribute): ValidationStep['whenOmitted'] {
  if (attribute.autoIncrement) return 'generated'
  if (attribute.autoCreatedAt || attribute.autoUpdatedAt) return 'timestamp'
  if (attribute.generated) return 'uuid'
  if (typeof attribute.defaultsTo === 'function') return 'call'
  return attribute.required ? 'refused' : 'constant'
}

/** The value in canonical form, or the violations of type and rules. */
export function accept(step: ValidationStep, raw: Json, maxBytes: number): Json | ValidationFailure {
  const { attribute } = step
  if (raw === null) return attribute.nullable ? null : attribute.required ? empty : notNull
  if (raw === '' && step.refusesEmpty) return empty
  const value = parseValue(raw, attribute)
  if (value === undefined) return step.isText && typeof raw === 'string' ? unstorableText : step.ofWrongType
  if (attribute.autoIncrement && leavesNoKeys(value, attribute.type.storedAs)) return tooLargeKey
  if (step.isSized && isLarger(value, maxBytes)) {
    return new ValidationFailure([{ rule: 'maxValueBytes', message: `must have at most ${maxBytes} bytes` }])
  }
  let violations: Violation[] | undefined
  for (const rule of attribute.rules) {
    const message = rule.check(value)
    if (message === undefined) continue
    violations ??= []
    violations.push({ rule: rule.name, message })
  }
  return violations === undefined ? value : new ValidationFailure(violations)
}

/** Whether an empty text is a value of the attribute: of its type, and by its rules. */
export function acceptsEmptyText(model: Model, attribute: Attribute, maxBytes: number): boolean {
  const step = stepsOf(model).find((step) => step.attribute === attribute)
  return step !== undefined && !(accept(step, '', maxBytes) instanceof ValidationFailure)
}
