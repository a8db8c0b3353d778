import { AsyncLocalStorage } from 'node:async_hooks'
import { inspect } from 'node:util'
import { ServiceError } from '../../protocol/errors.ts'
import { isThenable, type MaybePromise } from '../../support/maybe-promise.ts'

/** A hook that is running, and the one whose write called it. */
interface RunningHook {
  readonly name: string
  readonly depth: number
  readonly outer: RunningHook | undefined
}

const running = new AsyncLocalStorage<RunningHook>()

/** Errors thrown by `refuse` in a hook: they are sent to the client, whichever code they pass through. */
const refusals = new WeakSet<object>()
/** Errors of operations on behalf of the system: their messages must not be sent to a requester. */
const internal = new WeakSet<object>()
/** What one operation may change, its hooks included. */
const changesOf: Readonly<Record<string, string>> = {
  maxAffected: 'more records',
  maxAffectedBytes: 'records of more bytes',
}
/** Errors of operations within the transaction of the request, because the transaction would exceed a limit. */
const excessive = new WeakSet<object>()

/**
 * Calls a hook. A ServiceError that it throws is the answer to the request. Throws an error for the log when hooks run each
 * other without end.
 */
export function callHook<T>(name: string, maxDepth: number, call: () => T | PromiseLike<T>): MaybePromise<T> {
  const outer = running.getStore()
  const depth = (outer?.depth ?? 0) + 1
  if (depth > maxDepth) throw tooDeep(name, outer, maxDepth)
  try {
    const result = running.run({ name, depth, outer }, call)
    if (!isThenable(result)) return result
    return Promise.resolve(result).then(undefined, (error: unknown) => {
      throw failureOf(error, name)
    })
  } catch (error) {
    throw failureOf(error, name)
  }
}

/** The error for the client after a hook has failed. */
export function failureOf(error: unknown, name: string): unknown {
  if (!(error instanceof Error)) return new Error(`The hook ${name} threw ${inspect(error)}`)
  if (!(error instanceof ServiceError)) return error
  if (excessive.has(error)) return answered(tooMuchWithHooks(error.details.limit as string))
  if (isMarkedInternal(error)) return new Error(`The hook ${name} failed: ${error.message}`, { cause: error })
  return answered(error)
}

function answered(error: ServiceError): ServiceError {
  refusals.add(error)
  return error
}

const tooMuchWithHooks = (limit: string): ServiceError =>
  new ServiceError(
    'E_CONFLICT',
    `The operation would change ${changesOf[limit]} than one may, together with what its hooks change`,
    { limit },
  )

/**
 * Marks the failure of an operation that code of the application performed on behalf of the system. What `refuse` made is
 * an answer to the request in any case.
 */
export function markInternal(error: unknown): void {
  if (!(error instanceof Error)) return
  const isAnswer = error instanceof ServiceError && (error.details.status !== undefined || refusals.has(error))
  if (!isAnswer) internal.add(error)
}

/** Marks the failure of an operation of a hook within the transaction of the request. */
export function markWithin(error: unknown): void {
  if (error instanceof ServiceError && Object.hasOwn(changesOf, error.details.limit ?? '')) excessive.add(error)
  else markInternal(error)
}

/** Whether an error is one that `markInternal` has marked, also after the database error of a transaction was translated. */
export const isMarkedInternal = (error: unknown): error is ServiceError =>
  error instanceof ServiceError &&
  error.status < 500 &&
  (internal.has(error) || (error.cause instanceof Error && internal.has(error.cause)))

function tooDeep(name: string, outer: RunningHook | undefined, maxDepth: number): Error {
  const names = [name]
  for (let hook = outer; hook; hook = hook.outer) names.unshift(hook.name)
  return new Error(`Hooks run each other more than ${maxDepth} levels deep (maxHookDepth): ${names.join(' → ')}`)
}
