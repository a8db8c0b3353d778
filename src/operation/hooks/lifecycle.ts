import type { Assignment } from '../../model/assignment.ts'
import { type Attribute, type Model, originalOf } from '../../model/model.ts'
import type { Purpose } from '../../model/validate.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import type { MaybePromise } from '../../support/maybe-promise.ts'
import { callBefore, type HookCaller } from './before.ts'

/** The key of a new record that a callback of a Sails application may set: such keys are often made in `beforeCreate`. */
export function keyOfCallback(model: Model, given: ReadonlyMap<string, Json>, purpose: Purpose): Attribute | undefined {
  const { hooks, primaryKey } = originalOf(model)
  if (purpose === 'update' || !hooks?.lifecycle.validated?.create) return undefined
  return primaryKey.required && !given.has(primaryKey.name) ? primaryKey : undefined
}

export const hasCallbackAfterValidation = (purpose: Purpose, model: Model): boolean =>
  originalOf(model).hooks?.lifecycle.validated?.[purpose] !== undefined

/**
 * Runs the callback of a Sails application that follows validation. As in Waterline, it changes the values in their object, a
 * password to its hash for instance, and the rules of the attributes are not applied again.
 */
export function afterValidation(
  model: Model,
  assignments: readonly Assignment[],
  purpose: Purpose,
  caller: HookCaller,
): MaybePromise<readonly Assignment[]> {
  const callback = originalOf(model).hooks?.lifecycle.validated?.[purpose]
  return callback ? applied(callback, model, assignments, purpose, caller) : assignments
}

async function applied(
  callback: (values: JsonObject) => unknown,
  model: Model,
  assignments: readonly Assignment[],
  purpose: Purpose,
  caller: HookCaller,
): Promise<readonly Assignment[]> {
  const values: Record<string, Json> = {}
  for (const { attribute, value } of assignments) values[attribute.name] = value
  const name = `${purpose === 'create' ? 'beforeCreate' : 'beforeUpdate'} of ${model.name}`
  await callBefore(name, caller, () => callback(values))
  return [...originalOf(model).attributes.values()].flatMap((attribute) => {
    const given = values[attribute.name]
    return given === undefined ? [] : [{ attribute, value: storable(given, attribute, name) }]
  })
}

/** A value in the form of its type: what a callback sets is an error of the application when it has another. */
function storable(given: unknown, attribute: Attribute, callback: string): Json {
  const { name, type, nullable } = attribute
  const raw = (given instanceof Date ? given.toISOString() : given) as Json
  const value = raw === null && nullable ? null : raw === null ? undefined : type.parse(raw)
  if (value === undefined) throw new TypeError(`${callback} set "${name}" to a value that is not ${type.noun}`)
  // An empty key could not be part of a path.
  if (value === '' && attribute.isPrimaryKey) throw new TypeError(`${callback} set "${name}" to an empty text`)
  return value
}
