import type { Invocation } from '../../operation/operation.ts'
import { clientDisconnected, ServiceError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { type Requester, system } from '../../protocol/requester.ts'
import {
  integrity,
  type ScopedReads,
  type ScopedStore,
  type ScopedTransaction,
  systemStore,
} from '../../storage/scoped-store.ts'
import type { Store } from '../../storage/store.ts'
import { scopedWithin } from '../../storage/transaction-store.ts'
import { authorizationFor } from '../dispatch/authorize.ts'
import type { DispatchContext } from '../dispatch/context.ts'
import { marked } from '../in-process/marked-records.ts'
import { type Caller, recordsOf } from '../in-process/records.ts'
import { lazyRecords } from '../in-process/records-by-model.ts'
import { openScope, type TransactionScope } from '../in-process/transaction-scope.ts'

/** What `run` of an action is given. Members that are rarely used are made when they are first read. */
type Context = Record<string, unknown>

/** One run of an action. */
export class ActionCall {
  readonly context: Context
  readonly #dispatch: DispatchContext
  readonly #invocation: Invocation
  #abort: AbortController | undefined
  #failure: { readonly error: unknown } | undefined

  constructor(dispatch: DispatchContext, invocation: Invocation, input: unknown) {
    this.#dispatch = dispatch
    this.#invocation = invocation
    const { requester, headers = {} } = invocation
    const signal = () => this.#signal()
    this.context = {
      input,
      user: requester.kind === 'user' ? requester.user : null,
      isSystem: requester.kind === 'system',
      headers,
      get signal() {
        return signal()
      },
    }
  }

  setRecord(record: JsonObject): void {
    this.context.record = record
  }

  /** Records whose operations belong to the transaction. */
  setTransaction(transaction: ScopedTransaction, store: ScopedStore, scope: TransactionScope): void {
    const { requester } = this.#invocation
    const dispatch = this.#dispatch
    const own = { ...authorizationFor(dispatch, requester), store: scopedWithin(transaction, store) }
    const whole = scopedWithin(integrity(transaction) as ScopedTransaction, systemStore(dispatch.store))
    const unrestricted = { requester: system, access: undefined, store: whole }
    this.context.tx = this.#records({ authorization: () => own, scope })
    this.context.system = { records: this.#systemRecords({ authorization: () => unrestricted, scope }) }
  }

  /** Records whose every operation is its own transaction. */
  setRecords(): void {
    const { requester, origin } = this.#invocation
    const callerFor = (requester: Requester): Caller => ({
      authorization: () => authorizationFor(this.#dispatch, requester),
      origin,
    })
    this.context.records = this.#records(callerFor(requester))
    this.context.system = { records: this.#systemRecords(callerFor(system)) }
  }

  /** Sets records that can only be read: those of the transaction or snapshot of a batch, if the action is part of one. */
  setReads(reads: ScopedReads): void {
    const dispatch = this.#dispatch
    const scope = openScope(dispatch.store)
    const common = { isReadOnly: true, ...(scope && { scope }) }
    const own = () => ({ ...authorizationFor(dispatch, this.#invocation.requester), store: reads as ScopedStore })
    const whole = systemStore((reads.unscoped ?? reads) as Store)
    const unrestricted = () => ({ requester: system, access: undefined, store: whole })
    this.context.records = this.#records({ authorization: own, ...common })
    this.context.system = { records: this.#systemRecords({ authorization: unrestricted, ...common }) }
  }

  /** Rejects with E_TIMEOUT after the time. What `run` has begun cannot be stopped, but its signal is aborted. */
  async within<T>(limitMs: number, work: () => Promise<T>): Promise<T> {
    const { promise: overdue, reject } = Promise.withResolvers<never>()
    const message = `The action "${this.#invocation.operation.name}" took longer than ${limitMs} ms`
    const timer = setTimeout(
      () => reject(new ServiceError('E_TIMEOUT', message, { limit: 'actionTimeoutMs' })),
      limitMs,
    )
    try {
      return await this.abortedOnFailure(Promise.race([work(), overdue]))
    } finally {
      clearTimeout(timer)
    }
  }

  async abortedOnFailure<T>(result: Promise<T>): Promise<T> {
    try {
      return await result
    } catch (thrown) {
      const error = this.#isOfAbsentClient(thrown) ? clientDisconnected(thrown) : thrown
      this.#failure = { error }
      this.#abort?.abort(error)
      throw error
    }
  }

  /** Throws the failure that the action has been answered with, such as its time limit. */
  assertNotFailed(): void {
    if (this.#failure) throw this.#failure.error
  }

  #records(caller: Caller): object {
    return lazyRecords(this.#dispatch.services.models, (model) => recordsOf(this.#dispatch, model, caller))
  }

  #systemRecords(caller: Caller): object {
    return lazyRecords(this.#dispatch.services.models, (model) => marked(recordsOf(this.#dispatch, model, caller)))
  }

  /**
   * Whether an error follows from the disconnection of the client: functions that received the signal reject with its reason. It
   * is no error of the application.
   */
  #isOfAbsentClient(error: unknown): boolean {
    const client = this.#invocation.client?.signal
    if (!client?.aborted) return false
    return error === client.reason || (error instanceof Error && error.name === 'AbortError')
  }

  #signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController()
      if (this.#failure) this.#abort.abort(this.#failure.error)
    }
    const client = this.#invocation.client?.signal
    return client ? AbortSignal.any([client, this.#abort.signal]) : this.#abort.signal
  }
}
