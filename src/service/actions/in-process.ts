import type { Model } from '../../model/model.ts'
import type { Operation, OperationResult } from '../../operation/operation.ts'
import type { Json } from '../../protocol/json.ts'
import type { Requester } from '../../protocol/requester.ts'
import { authorizationFor } from '../dispatch/authorize.ts'
import type { DispatchContext } from '../dispatch/context.ts'
import { execute } from '../dispatch/execute.ts'
import { assertNoTransaction } from '../in-process/transaction-scope.ts'
import type { ActionInput } from './action-operation.ts'
import { serviceTarget } from './service-target.ts'

/** Actions as functions. The public entry point lays the types of their declarations over them. */
export type LooseActions = Readonly<Record<string, (...given: never[]) => Promise<unknown>>>

/** Makes a function that writes one of the caller's transaction, if it has one. */
export type Writing = <A extends unknown[], T>(call: (...given: A) => Promise<T>) => (...given: A) => Promise<T>

interface ActionCaller {
  /** Throws E_NO_SUCH_RECORD for what no record can have as its key. */
  readonly keyOf: (id: Json) => Json
  readonly run: (operation: Operation, input: ActionInput) => Promise<OperationResult>
  readonly writing: Writing
}

/** The actions of a model, beside its operations. */
export function actionsOf(
  { actions }: DispatchContext,
  model: Model,
  { keyOf, run, writing }: ActionCaller,
): LooseActions {
  const functions: Record<string, (...given: never[]) => Promise<unknown>> = {}
  for (const { action, operation } of actions.ofModel(model).values()) {
    const call = async (id: Json | undefined, raw: unknown) =>
      resultValue(await run(operation as Operation, { id, raw, isInProcess: true }))
    const given =
      action.on === 'record'
        ? async (id: Json, raw?: unknown) => call(keyOf(id), raw)
        : async (raw?: unknown) => call(undefined, raw)
    functions[action.name] = operation.effect === 'writes' ? writing(given) : given
  }
  return functions
}

/** The actions of the service. */
export function serviceActionsOf(context: DispatchContext, requester: Requester): LooseActions {
  const functions: Record<string, (...given: never[]) => Promise<unknown>> = {}
  for (const { action, operation } of context.actions.service.values()) {
    functions[action.name] = async (raw?: unknown) => {
      assertNoTransaction(context.store)
      const input: ActionInput = { id: undefined, raw, isInProcess: true }
      const invocation = { operation: operation as Operation, target: { model: serviceTarget }, input, requester }
      return resultValue(await execute(invocation, authorizationFor(context, requester), context))
    }
  }
  return functions
}

function resultValue(result: OperationResult): unknown {
  if (result.kind !== 'action') throw new Error(`Bug in keelson: unexpected result "${result.kind}"`)
  return result.value
}
