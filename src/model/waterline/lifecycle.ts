import type { JsonObject } from '../../protocol/json.ts'
import { hooks } from '../definition-kinds.ts'
import { type HookDefinitions, lifecycle, type TranslatedHooks } from '../hooks.ts'

// biome-ignore-start lint/suspicious/noExplicitAny: functions of an application without types
type Step = (...given: any[]) => unknown
// biome-ignore-end lint/suspicious/noExplicitAny: see above
/** A lifecycle callback: in 0.x it may be a list of functions. */
export type Callback = Step | readonly Step[]

/**
 * The hooks of a model with its lifecycle callbacks, at their moments in Waterline: `beforeValidate` precedes validation,
 * `afterValidate`, `beforeCreate` and `beforeUpdate` follow it, and the others follow the commit. A hook sees the values that
 * the callback before it has changed.
 */
export function withCallbacks(
  given: unknown,
  callbacks: Readonly<Record<string, Callback>>,
  model: Readonly<Record<string, unknown>>,
): TranslatedHooks {
  const own = (given ?? {}) as HookDefinitions
  // Whatever is no hook is refused with the other options.
  if (!hooks.accepts(own)) return own
  const { create, update, destroy } = own.before ?? {}
  const run = (...names: readonly string[]) => {
    const steps = names.flatMap((name) => callbacks[name] ?? []) as readonly Step[]
    return steps.length === 0 ? undefined : (values: JsonObject) => runInTurn(steps, values, model)
  }
  const validate = run('beforeValidate')
  const destroyed = run('beforeDestroy')
  const key = primaryKeyOf(model)
  return {
    ...own,
    before: {
      ...own.before,
      ...(validate && { create: inTurn(validate, create), update: inTurn(validate, update) }),
      ...(destroyed && {
        destroy: inTurn(({ previous }) => destroyed({ where: { [key]: previous[key] } }), destroy),
      }),
    },
    [lifecycle]: {
      validated: { create: run('afterValidate', 'beforeCreate'), update: run('afterValidate', 'beforeUpdate') },
      after: { create: run('afterCreate'), update: run('afterUpdate'), destroy: run('afterDestroy') },
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: see above
const inTurn = (callback: (first: any) => Promise<void>, hook: Step | undefined): ((...given: any[]) => unknown) =>
  hook === undefined
    ? (first) => callback(first)
    : async (...given) => {
        await callback(given[0])
        return hook(...given)
      }

/** Nothing is returned: callbacks change the object that they are given. */
async function runInTurn(steps: readonly Step[], given: JsonObject, model: object): Promise<void> {
  for (const step of steps)
    await (step.length < 2 ? Reflect.apply(step, model, [given]) : withCallback(step, given, model))
}

/** A function that declares a second parameter calls it at its end, with an error if there is one. */
const withCallback = (step: Step, given: JsonObject, model: object): Promise<void> =>
  new Promise((resolve, reject) => {
    const proceed = (error?: unknown) =>
      error === undefined || error === null
        ? resolve()
        : reject(error instanceof Error ? error : new Error(`A lifecycle callback failed: ${String(error)}`))
    const result: unknown = Reflect.apply(step, model, [given, proceed])
    if (result instanceof Promise) result.catch(reject)
  })

function primaryKeyOf({ primaryKey, attributes }: Readonly<Record<string, unknown>>): string {
  if (typeof primaryKey === 'string') return primaryKey
  const entries = Object.entries((attributes ?? {}) as Readonly<Record<string, { readonly primaryKey?: unknown }>>)
  return entries.find(([, definition]) => definition?.primaryKey === true)?.[0] ?? 'id'
}
