import type { Violation } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Assignment } from './assignment.ts'
import type { Attribute, Model } from './model.ts'
import { isLarger } from './value-size.ts'

/** One attribute's part of a validation: all that can be known before its value comes. */
export interface Step {
  readonly name: string
  readonly attribute: Attribute
  readonly isSized: boolean
  readonly refusesEmpty: boolean
  readonly ofWrongType: Refused
  readonly isText: boolean
  readonly whenAbsent: 'counted' | 'stamp' | 'uuid' | 'call' | 'constant' | 'refused'
  readonly constant: Assignment
}

/** Not a value, but why not. */
export class Refused {
  readonly violations: readonly Violation[]

  constructor(violations: readonly Violation[]) {
    this.violations = violations
  }
}

export const missing = new Refused([{ rule: 'required', message: 'is required' }])
const empty = new Refused([{ rule: 'required', message: 'must not be empty' }])
const unstorable = 'must not hold NUL or half of a surrogate pair'
const unstorableText = new Refused([{ rule: 'type', message: unstorable }])
const notNull = new Refused([{ rule: 'allowNull', message: 'must not be null' }])

/** Models never change, so what is derived from one is kept as long as the model is. */
const knownSteps = new WeakMap<Model, readonly Step[]>()

export function stepsOf(model: Model): readonly Step[] {
  let steps = knownSteps.get(model)
  if (steps === undefined) {
    steps = [...model.attributes.values()].map(stepFor)
    knownSteps.set(model, steps)
  }
  return steps
}

function stepFor(attribute: Attribute): Step {
  const { name, type, defaultsTo } = attribute
  const { storedAs, noun } = type
  const constant = typeof defaultsTo === 'function' ? undefined : defaultsTo
  return {
    name,
    attribute,
    isSized: storedAs === 'text' || storedAs === 'json' || storedAs === 'binary',
    // An empty key could not be written into an address.
    refusesEmpty: attribute.required || attribute.isPrimaryKey,
    ofWrongType: new Refused([{ rule: 'type', message: storedAs === 'json' ? unstorable : `must be ${noun}` }]),
    isText: storedAs === 'text',
    whenAbsent: whenAbsent(attribute),
    constant: { attribute, value: constant ?? null },
  }
}

function whenAbsent(attribute: Attribute): Step['whenAbsent'] {
  if (attribute.autoIncrement) return 'counted'
  if (attribute.autoCreatedAt || attribute.autoUpdatedAt) return 'stamp'
  if (attribute.generated) return 'uuid'
  if (typeof attribute.defaultsTo === 'function') return 'call'
  return attribute.required ? 'refused' : 'constant'
}

/** The value in its one form, if it is of the type and keeps the rules. */
export function accept(step: Step, raw: Json, maxBytes: number): Json | Refused {
  const { attribute } = step
  if (raw === null) return attribute.nullable ? null : attribute.required ? empty : notNull
  if (raw === '' && step.refusesEmpty) return empty
  const value = attribute.type.parse(raw)
  if (value === undefined) return step.isText && typeof raw === 'string' ? unstorableText : step.ofWrongType
  if (step.isSized && isLarger(value, maxBytes)) {
    return new Refused([{ rule: 'maxValueBytes', message: `must have at most ${maxBytes} bytes` }])
  }
  let violations: Violation[] | undefined
  for (const rule of attribute.rules) {
    const message = rule.check(value)
    if (message === undefined) continue
    violations ??= []
    violations.push({ rule: rule.name, message })
  }
  return violations === undefined ? value : new Refused(violations)
}
