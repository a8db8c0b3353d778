import { isDeepStrictEqual } from 'node:util'
import { findByPrimaryKey } from '../../criteria/criteria.ts'
import type { ChangeHookContext, HookedWrite } from '../../model/hooks.ts'
import { type Attribute, type Model, originalOf } from '../../model/model.ts'
import { type Purpose, validate } from '../../model/validate.ts'
import { noSuchRecord, ServiceError } from '../../protocol/errors.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import type { Requester, User } from '../../protocol/requester.ts'
import { withinHookTime } from '../../protocol/within-hook-time.ts'
import type { ScopedReads } from '../../storage/scoped-store.ts'
import type { Records } from '../../storage/store.ts'
import { assertDefined } from '../../support/assert.ts'
import { hasProperties } from '../../support/has-properties.ts'
import { andThen, type MaybePromise } from '../../support/maybe-promise.ts'
import type { OperationServices } from '../operation.ts'
import { callHook } from './call-hook.ts'
import type { HookServices } from './hook-services.ts'

/** On whose behalf records are prepared, and what hooks read. */
export interface HookCaller {
  readonly requester: Requester
  readonly reads: ScopedReads
  readonly services: OperationServices
}

/** The values that a record is written with: those that were given, or what the hook of the model makes of them. */
export function valuesToWrite(
  model: Model,
  given: ReadonlyMap<string, Json>,
  purpose: Purpose,
  caller: HookCaller,
  { previous, except }: { readonly previous?: JsonObject | undefined; readonly except?: ReadonlySet<Attribute> },
): MaybePromise<ReadonlyMap<string, Json>> {
  const { hooks } = originalOf(model)
  const hook = hooks?.before[purpose]
  if (!hook) return given
  const values = typedValues(originalOf(model), given)
  // Validation refuses values of another type, so that a hook need not expect them.
  if (!values) return given
  // Compared with what the hook returns, and the hook may change the one that it is given.
  const stored = previous && structuredClone(previous)
  const call = () => hook(values, new BeforeContext(caller, previous))
  const refuseInvalid = (hook: string, cause: unknown) =>
    refuseForValues(hook, cause, () => validate(model, given, purpose, caller.services, except))
  return andThen(callBefore(`before.${purpose} of ${model.name}`, caller, call, refuseInvalid), (result) => {
    const written = valuesFrom(result ?? values, originalOf(model), purpose)
    return stored ? withoutUnchanged(written, given, stored) : written
  })
}

/** Runs the hook that may refuse to destroy a record. */
export function beforeDestroy(model: Model, previous: JsonObject, caller: HookCaller): MaybePromise<unknown> {
  const hook = assertDefined(originalOf(model).hooks?.before.destroy, `${model.name} has no hook before destroy`)
  return callBefore(`before.destroy of ${model.name}`, caller, () => hook(new BeforeContext(caller, previous)))
}

export const hasHookBefore = (write: HookedWrite, model: Model): boolean =>
  originalOf(model).hooks?.before[write] !== undefined

/**
 * The record before a write, for its hook. Throws E_NO_SUCH_RECORD, and E_FORBIDDEN for a record
 * that the requester may not write: no hook runs for it.
 */
export async function previousRecord(
  write: Exclude<HookedWrite, 'create'>,
  model: Model,
  id: Json,
  reads: ScopedReads,
): Promise<JsonObject> {
  const found = await requireWritable(write, model, id, reads)
  if (!reads.unscoped) return found.decode()[0] as JsonObject
  const whole = await reads.unscoped.find(originalOf(model), findByPrimaryKey(originalOf(model), id))
  if (whole.length === 0) throw noSuchRecord(model.name)
  return whole.decode()[0] as JsonObject
}

/** Throws E_NO_SUCH_RECORD, and E_FORBIDDEN for a record that the requester may not write. */
export async function requireWritable(
  write: Exclude<HookedWrite, 'create'>,
  model: Model,
  id: Json,
  reads: ScopedReads,
): Promise<Records> {
  const found = await reads.find(model, findByPrimaryKey(model, id))
  if (found.length === 0) throw noSuchRecord(model.name)
  await reads.assertMayWrite?.(write, model, [id])
  return found
}

/** What a hook before a write is given. Its records are made when the hook asks for them. */
class BeforeContext implements ChangeHookContext {
  readonly user: User | null
  readonly isSystem: boolean
  readonly previous: JsonObject | undefined
  readonly #caller: HookCaller

  constructor(caller: HookCaller, previous: JsonObject | undefined) {
    const { requester } = caller
    this.user = requester.kind === 'user' ? requester.user : null
    this.isSystem = requester.kind === 'system'
    this.previous = previous
    this.#caller = caller
  }

  get records(): object {
    const { requester, reads, services } = this.#caller
    return servicesOf(services).recordsFor(requester, reads)
  }

  get system(): { readonly records: object } {
    const { reads, services } = this.#caller
    return {
      get records() {
        return servicesOf(services).systemRecords(reads)
      },
    }
  }
}

const servicesOf = ({ hooks }: OperationServices): HookServices => assertDefined(hooks, 'hooks without their services')

/** Calls a hook with its time limit. `refuseInvalid` throws when the values that it was given explain its failure. */
export function callBefore<T>(
  name: string,
  { services }: HookCaller,
  call: () => T | PromiseLike<T>,
  refuseInvalid?: (name: string, cause: unknown) => Promise<void>,
): MaybePromise<T> {
  const { limits } = services
  const failed = async (error: unknown): Promise<never> => {
    if (!(error instanceof ServiceError)) await refuseInvalid?.(name, error)
    throw error
  }
  try {
    const result = withinHookTime(callHook(name, limits.maxHookDepth, call), `The hook ${name}`, limits)
    return result instanceof Promise ? result.catch(failed) : result
  } catch (error) {
    return failed(error)
  }
}

/**
 * A hook need not expect that a required value is missing: when it fails and the values are not valid, the request is
 * refused for the values.
 */
async function refuseForValues(hook: string, cause: unknown, validateGiven: () => unknown): Promise<void> {
  try {
    await validateGiven()
  } catch (error) {
    if (!(error instanceof ServiceError)) return
    const message = `${error.message}; the hook ${hook} failed with these values`
    throw new ServiceError(error.code, message, { ...error.details, cause })
  }
}

/** The values in the form of their types; undefined when one has another type. */
function typedValues(model: Model, given: ReadonlyMap<string, Json>): Record<string, Json> | undefined {
  const values: Record<string, Json> = {}
  for (const [name, raw] of given) {
    const value = raw === null ? null : (model.attributes.get(name) as Attribute).type.parse(raw)
    if (value === undefined) return undefined
    values[name] = value
  }
  return values
}

/** What a hook returned, read like a body: times of the service and, in an update, the key are ignored. */
function valuesFrom(result: unknown, model: Model, purpose: Purpose): ReadonlyMap<string, Json> {
  if (!hasProperties(result))
    throw new TypeError(`The hook before.${purpose} of ${model.name} must return an object of values, or nothing`)
  const values = new Map<string, Json>()
  for (const name of Object.keys(result)) {
    const value = result[name] as Json | undefined | Date
    // The previous record contains computed values.
    if (model.computed.has(name)) continue
    const attribute = model.attributes.get(name)
    if (!attribute)
      throw new TypeError(`The hook before.${purpose} of ${model.name} returned "${name}", which is not an attribute`)
    const isIgnored =
      attribute.autoCreatedAt || attribute.autoUpdatedAt || (attribute.isPrimaryKey && purpose === 'update')
    if (value !== undefined && !isIgnored) values.set(name, value instanceof Date ? value.toISOString() : value)
  }
  return values
}

/**
 * A hook may return the whole record. What it and the request leave as it was is not written: others may have changed it
 * since, such as an earlier request of a batch, or another change of the same record by this write.
 */
function withoutUnchanged(
  written: ReadonlyMap<string, Json>,
  given: ReadonlyMap<string, Json>,
  stored: JsonObject,
): ReadonlyMap<string, Json> {
  const changed = new Map(written)
  for (const [name, value] of written)
    if (!given.has(name) && isDeepStrictEqual(value, stored[name])) changed.delete(name)
  return changed
}
