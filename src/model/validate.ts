import { ServiceError, type Violation } from '../protocol/errors.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { assert } from '../support/assert.ts'
import type { Clock } from '../support/clock.ts'
import { isPromise, type Maybe } from '../support/maybe.ts'
import { askSchema, type Verdict } from './ask-schema.ts'
import type { Assignment } from './assignment.ts'
import type { AttributeType } from './attribute-type.ts'
import type { Attribute, Model } from './model.ts'
import { stampOf } from './stamp.ts'
import type { StandardSchema } from './standard-schema.ts'
import { accept, missing, Refused, type Step, stepsOf } from './step.ts'

export type Purpose = 'create' | 'update'

/** Values by the names of attributes: only of such as the model has and as may be given, which the caller has seen to. */
export type Values = ReadonlyMap<string, Json> | JsonObject

/** What is not in the values and not in the model. */
export interface ValidationContext {
  readonly clock: Clock
  /** A new UUID, for a key that nobody gave. */
  readonly uuid: () => string
  readonly maxValueBytes: number
}

/**
 * The assignments that the values come to, in the order of the model, or one E_INVALID_ATTRIBUTES that names every
 * violation. Creating, each attribute gets one: what was given, its default, a time, a key, or else null; only a key
 * that the database counts up gets none. Updating, only what was given gets one, and the time of the update.
 */
export function validate(
  model: Model,
  values: Values,
  purpose: Purpose,
  context: ValidationContext,
): Maybe<Assignment[]> {
  const work: Work = {
    model,
    context,
    assignments: [],
    invalid: undefined,
    pending: undefined,
    atMs: undefined,
    stampType: undefined,
    stamp: null,
  }
  let taken = 0
  for (const step of stepsOf(model)) {
    const raw = given(values, step.name)
    if (raw === undefined) {
      if (purpose === 'create') complete(work, step)
      else if (step.attribute.autoUpdatedAt) assign(work, step.attribute, stamp(work, step.attribute))
    } else {
      taken++
      take(work, step, raw)
    }
  }
  assert(taken === countOf(values), `values for ${model.name} name something that is no attribute`)
  return work.pending === undefined ? finish(work) : Promise.all(work.pending).then(() => finish(work))
}

/** One validation under way. */
interface Work {
  readonly model: Model
  readonly context: ValidationContext
  readonly assignments: Assignment[]
  invalid: { [attribute: string]: readonly Violation[] } | undefined
  /** Schemas that answer later. */
  pending: Promise<void>[] | undefined
  atMs: number | undefined
  /** The last stamp, and the type it is for: most records have two of one type. */
  stampType: AttributeType | undefined
  stamp: Json
}

/** Only the object's own: some attribute may be called `toString`. */
function given(values: Values, name: string): Json | undefined {
  if (values instanceof Map) return values.get(name)
  const value = (values as JsonObject)[name]
  return value === undefined || Object.hasOwn(values, name) ? value : undefined
}

function countOf(values: Values): number {
  if (values instanceof Map) return values.size
  let count = 0
  for (const name of Object.keys(values)) if ((values as JsonObject)[name] !== undefined) count++
  return count
}

/** What a new record has in an attribute that nobody gave. */
function complete(work: Work, step: Step): void {
  const { attribute } = step
  switch (step.whenAbsent) {
    case 'counted':
      break
    case 'stamp':
      assign(work, attribute, stamp(work, attribute))
      break
    case 'uuid':
      assign(work, attribute, work.context.uuid())
      break
    case 'call':
      takeDefault(work, step, attribute.defaultsTo as () => Json)
      break
    case 'constant':
      work.assignments.push(step.constant)
      break
    case 'refused':
      refuse(work, attribute, missing.violations)
      break
  }
}

/** All times of one record are the same. */
function stamp(work: Work, attribute: Attribute): Json {
  work.atMs ??= work.context.clock.now()
  if (work.stampType !== attribute.type) {
    work.stampType = attribute.type
    work.stamp = stampOf(attribute, work.atMs)
  }
  return work.stamp
}

function take(work: Work, step: Step, raw: Json): void {
  const value = accept(step, raw, work.context.maxValueBytes)
  if (value instanceof Refused) refuse(work, step.attribute, value.violations)
  else if (step.attribute.schema === undefined || value === null) assign(work, step.attribute, value)
  else ask(work, step.attribute, value, (violations) => refuse(work, step.attribute, violations))
}

/** A default that is wrong is a mistake of the declaration, and nobody who asks can help it. */
function takeDefault(work: Work, step: Step, makeDefault: () => Json): void {
  const { attribute } = step
  const blame = ([violation]: readonly Violation[]): never => {
    throw new Error(`\`defaultsTo\` of ${work.model.name}.${attribute.name} ${violation?.message}`)
  }
  const value = accept(step, makeDefault(), work.context.maxValueBytes)
  if (value instanceof Refused) blame(value.violations)
  else if (attribute.schema === undefined || value === null) assign(work, attribute, value)
  else ask(work, attribute, value, blame)
}

/** The schema's say. What it makes of the value takes the value's place, now or when it answers. */
function ask(
  work: Work,
  attribute: Attribute,
  value: Json,
  onRefused: (violations: readonly Violation[]) => void,
): void {
  const place = work.assignments.push({ attribute, value }) - 1
  const settle = (verdict: Verdict): void => {
    if ('violations' in verdict) {
      onRefused(verdict.violations)
      return
    }
    if (verdict.value === null && !attribute.nullable) {
      throw new Error(`The \`schema\` of ${work.model.name}.${attribute.name} made null`)
    }
    work.assignments[place] = { attribute, value: verdict.value }
  }
  const verdict = askSchema(attribute.schema as StandardSchema, attribute.type, value)
  if (!isPromise(verdict)) {
    settle(verdict)
    return
  }
  const settled = verdict.then(settle)
  // Whoever waits hears of a failure. If nobody does, because something else failed before, it must not end the process.
  settled.catch(() => undefined)
  work.pending ??= []
  work.pending.push(settled)
}

function assign(work: Work, attribute: Attribute, value: Json): void {
  work.assignments.push({ attribute, value })
}

function refuse(work: Work, attribute: Attribute, violations: readonly Violation[]): void {
  work.invalid ??= {}
  work.invalid[attribute.name] = violations
}

function finish({ model, assignments, invalid }: Work): Assignment[] {
  if (invalid === undefined) return assignments
  const sentences = Object.entries(invalid).flatMap(([name, violations]) =>
    violations.map(({ message }) => `${name} ${message}`),
  )
  throw new ServiceError('E_INVALID_ATTRIBUTES', sentences.join('; '), {
    model: model.name,
    invalidAttributes: invalid,
  })
}
