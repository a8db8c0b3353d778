import { and, type Condition, findByPrimaryKey, lockByPrimaryKey, primaryKeyEquals } from '../../criteria/criteria.ts'
import type { DeclaredAction } from '../../model/actions/declare-actions.ts'
import { type Model, originalOf } from '../../model/model.ts'
import { isMarkedInternal } from '../../operation/hooks/call-hook.ts'
import type { ActionResult, Invocation, Operation, ParameterValues } from '../../operation/operation.ts'
import { existingKey } from '../../operation/record-key.ts'
import { requireVersion } from '../../operation/version.ts'
import { noSuchRecord, ServiceError } from '../../protocol/errors.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { integrity, type ScopedReads, type ScopedStore, type ScopedTransaction } from '../../storage/scoped-store.ts'
import type { Reads } from '../../storage/store.ts'
import { authorizationFor } from '../dispatch/authorize.ts'
import type { DispatchContext } from '../dispatch/context.ts'
import { OutsideOnlyError, TransactionScope } from '../in-process/transaction-scope.ts'
import { ActionCall } from './action-call.ts'
import { actionResult } from './action-result.ts'
import { endResult } from './reply.ts'
import { validateInput, validateResult } from './validate-input.ts'

export interface ActionInput {
  /** Of an action on a record. */
  readonly id: Json | undefined
  readonly raw: unknown
  /** The result stays in this process, as it is. */
  readonly isInProcess: boolean
}

interface Prepared {
  readonly input: unknown
  /** The condition that the record must fulfil. */
  readonly condition: Condition | undefined
}

/** An action as an operation: the same stages and the same rules as every other one. `model` is undefined for the service. */
export function createActionOperation(
  action: DeclaredAction,
  model: Model | undefined,
  contextOf: () => DispatchContext,
): Operation<ActionInput> {
  const { name, method } = action
  const description = {
    name,
    routes: [],
    parameters: [],
    acceptsList: true,
    takesWholeBody: true,
    parse: (parameters: ParameterValues, target: { readonly model: Model }) => parse(parameters, target.model, action),
  }

  const prepare = async (invocation: Invocation<ActionInput>, reads: ScopedReads): Promise<Prepared> => {
    const { access } = authorizationFor(contextOf(), invocation.requester)
    const verdict = access?.actionVerdict(action, model) ?? true
    if (verdict === false) throw forbidden(name)
    const condition = typeof verdict === 'object' ? verdict : undefined
    try {
      return {
        input: await validateInput(action.input, invocation.input.raw, name, contextOf().services.limits),
        condition,
      }
    } catch (error) {
      // A missing record is reported before invalid input is.
      if (action.on === 'record') await readRecord(invocation, reads)
      throw error
    }
  }

  const finish = async (call: ActionCall, invocation: Invocation<ActionInput>, isWithin = false) => {
    const made = await action.run(call.context)
    try {
      call.assertNotFailed()
      const value = await validateResult(action.result, made, name)
      if (invocation.input.isInProcess)
        return { kind: 'action', value, status: 200, headers: {} } satisfies ActionResult
      const { maxAnswerBytes } = contextOf().services.limits
      const acceptsStreams = invocation.acceptsStream === true && !isWithin
      return await actionResult(value, name, { maxAnswerBytes, acceptsStreams })
    } catch (error) {
      endResult(made)
      throw error
    }
  }

  const runDirectly = async (invocation: Invocation<ActionInput>, prepared: Prepared, reads: ScopedReads) => {
    const context = contextOf()
    const call = new ActionCall(context, invocation, prepared.input)
    if (action.on === 'record') {
      if (method !== 'GET' && invocation.precondition !== undefined)
        throw new ServiceError(
          'E_BAD_REQUEST',
          `The action "${name}" has no transaction in which If-Match or If-None-Match would hold`,
        )
      const record = await readRecord(invocation, reads)
      await assertFulfilled(prepared.condition, invocation, (reads.unscoped ?? reads) as Reads, name)
      call.setRecord(record)
    }
    if (method === 'GET') call.setReads(reads)
    else call.setRecords()
    return call.within(context.services.limits.actionTimeoutMs, () => concealed(name, finish(call, invocation)))
  }

  const runInTransaction = async (
    invocation: Invocation<ActionInput>,
    prepared: Prepared,
    store: ScopedStore,
  ): Promise<ActionResult> => {
    const context = contextOf()
    const call = new ActionCall(context, invocation, prepared.input)
    let made: ActionResult | undefined
    const work = async (transaction: ScopedTransaction) => {
      // A repetition after a conflict makes a new result, so the source of the previous one is released.
      endResult(made?.value)
      if (action.on === 'record') {
        const { input, target, precondition } = invocation
        await requireVersion(target.model, input.id as Json, precondition, transaction, context.services)
        const record = await readRecord(invocation, transaction, lockByPrimaryKey)
        await assertFulfilled(prepared.condition, invocation, integrity(transaction), name)
        call.setRecord(record)
      }
      const scope = new TransactionScope(context.store)
      call.setTransaction(transaction, store, scope)
      // If a write within the action has failed, the scope fails when the action has ended.
      return scope.run(async () => {
        made = await finish(call, invocation, store.isWithin)
        return made
      })
    }
    const { transactionTimeoutMs: timeoutMs } = context.services.limits
    const options = { origin: invocation.origin, timeoutMs, isSerializable: true }
    try {
      return await call.abortedOnFailure(concealed(name, store.transaction(work, options)))
    } catch (error) {
      endResult(made?.value)
      throw error
    }
  }

  if (method === 'GET')
    return {
      ...description,
      effect: 'reads',
      run: async (invocation, reads) => runDirectly(invocation, await prepare(invocation, reads), reads),
    }
  return {
    ...description,
    effect: 'writes',
    prepare,
    async run(invocation, prepared, store) {
      if (action.isTransactional) return runInTransaction(invocation, prepared as Prepared, store)
      if (store.isWithin)
        throw new OutsideOnlyError(
          `The action "${name}" has transaction: false: it runs by itself, outside of transactions and without Idempotency-Key`,
        )
      return runDirectly(invocation, prepared as Prepared, store)
    },
  }
}

/** The input of an action: the members of the query string, replaced by those of the body. An action by GET has no body. */
function parse(
  { record, query, body, list }: ParameterValues,
  model: Model,
  { on, method, name }: DeclaredAction,
): ActionInput {
  const id = on === 'record' ? existingKey(record, model) : undefined
  const { callback: _, _: __, ...parameters } = query
  if (method === 'GET' && (list || Object.keys(body).length > 0))
    throw new ServiceError('E_BAD_BODY', `The action "${name}" takes its input from the query string`)
  return { id, raw: list ?? { ...parameters, ...body }, isInProcess: false }
}

/** Throws E_NO_SUCH_RECORD for a record that the requester may not read. */
async function readRecord(
  { target: { model }, input }: Invocation<ActionInput>,
  reads: ScopedReads,
  criteria = findByPrimaryKey,
): Promise<JsonObject> {
  const found = await reads.find(model, criteria(model, input.id as Json))
  const [record] = found.decode()
  if (!record) throw noSuchRecord(model.name)
  return record
}

async function assertFulfilled(
  condition: Condition | undefined,
  { target, input }: Invocation<ActionInput>,
  reads: Reads,
  action: string,
): Promise<void> {
  if (!condition) return
  const model = originalOf(target.model)
  const fulfilled = await reads.count(model, and(primaryKeyEquals(model, input.id as Json), condition))
  if (fulfilled === 0) throw forbidden(action)
}

/** The failure of an operation on behalf of the system is not shown to the requester. */
async function concealed<T>(action: string, result: Promise<T>): Promise<T> {
  try {
    return await result
  } catch (error) {
    if (!isMarkedInternal(error)) throw error
    throw new Error(`The action "${action}" failed: ${error.message}`, { cause: error })
  }
}

const forbidden = (action: string): ServiceError => new ServiceError('E_FORBIDDEN', `You may not run "${action}"`)
