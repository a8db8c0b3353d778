import type { JsonObject } from '../../protocol/json.ts'
import { lifecycle, type TranslatedHooks } from '../hooks.ts'

// biome-ignore lint/suspicious/noExplicitAny: functions of an application without types
type Step = (...given: any[]) => unknown
/** A lifecycle callback: in 0.x it may be a list of functions. */
export type Callback = Step | readonly Step[]

/**
 * The lifecycle callbacks of a model as hooks, at their moments in Waterline: `beforeValidate` precedes validation,
 * `afterValidate`, `beforeCreate` and `beforeUpdate` follow it, and the others follow the commit. Undefined: there are none.
 */
export function lifecycleHooks(
  callbacks: Readonly<Record<string, Callback>>,
  model: Readonly<Record<string, unknown>>,
): TranslatedHooks | undefined {
  if (Object.keys(callbacks).length === 0) return undefined
  const run = (...names: readonly string[]) => {
    const steps = names.flatMap((name) => callbacks[name] ?? []) as readonly Step[]
    return steps.length === 0 ? undefined : (given: JsonObject) => runInTurn(steps, given, model)
  }
  const validate = run('beforeValidate')
  const destroy = run('beforeDestroy')
  const key = primaryKeyOf(model)
  return {
    before: {
      ...(validate && { create: validate, update: validate }),
      ...(destroy && { destroy: ({ previous }) => destroy({ where: { [key]: previous[key] } }) }),
    },
    [lifecycle]: {
      validated: { create: run('afterValidate', 'beforeCreate'), update: run('afterValidate', 'beforeUpdate') },
      after: { create: run('afterCreate'), update: run('afterUpdate'), destroy: run('afterDestroy') },
    },
  }
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
