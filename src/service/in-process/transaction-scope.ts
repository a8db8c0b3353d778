import { AsyncLocalStorage } from 'node:async_hooks'
import { ServiceError } from '../../protocol/errors.ts'
import type { Store } from '../../storage/store.ts'
import { toServiceErrorWithin } from '../../storage/to-service-error.ts'

/** A mistake in code of the application about a transaction. */
export class TransactionError extends Error {
  readonly code: 'E_IN_TRANSACTION' | 'E_TRANSACTION_ENDED'

  constructor(code: TransactionError['code'], message: string) {
    super(message)
    this.name = 'TransactionError'
    this.code = code
  }
}

/** An operation that cannot be part of a transaction was asked for in one. */
export class OutsideOnlyError extends TransactionError {
  constructor(message: string) {
    super('E_IN_TRANSACTION', message)
  }
}

/** The transaction that the running task belongs to. It is entered by transactions of the application only. */
const current = new AsyncLocalStorage<TransactionScope>()

/**
 * Throws E_IN_TRANSACTION in a task of an open transaction of the same store: an operation outside of it would not see
 * its writes, and a write would wait for a transaction that waits for the write.
 */
export function assertNoTransaction(store: Store): void {
  if (openScope(store))
    throw new TransactionError(
      'E_IN_TRANSACTION',
      'A transaction is open in this task: use the records that it was given, not those of the service',
    )
}

/** The open transaction of the store that the running task belongs to. */
export function openScope(store: Store): TransactionScope | undefined {
  const scope = current.getStore()
  return scope?.isOpen && scope.store === store ? scope : undefined
}

/** One transaction while code of the application runs in it. */
export class TransactionScope {
  readonly store: Store
  readonly #pending = new Set<Promise<unknown>>()
  #isOpen = true
  /** The first write that failed. `error` is for the caller of the transaction, `shown` for code within it. */
  #failure: { readonly error: unknown; readonly shown: unknown } | undefined

  constructor(store: Store) {
    this.store = store
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /**
   * Runs the code and waits for all operations that it has begun, even if it did not await them. If a write failed, the
   * transaction fails, even if its error was caught, because a part of the write may have been executed.
   */
  async run<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      const result = await current.run(this, async () => work())
      while (this.#pending.size > 0) await Promise.all(this.#pending)
      if (this.#failure) throw this.#failure.error
      return result
    } catch (error) {
      throw this.#failure?.shown === error ? this.#failure?.error : error
    } finally {
      this.#isOpen = false
    }
  }

  /**
   * Runs an operation of the transaction. `conceals`: under access rules, a violation of uniqueness is not named within the
   * transaction, because what may be revealed is known only at its end.
   */
  async operate<T>(effect: 'reads' | 'writes', operation: () => T | Promise<T>, conceals: boolean): Promise<T> {
    if (!this.#isOpen)
      throw new TransactionError('E_TRANSACTION_ENDED', 'The transaction has ended: its records can no longer be used')
    if (this.#failure) throw this.#failure.shown
    const result = this.#attempt(effect, operation, conceals)
    this.#awaitAtEnd(result.catch(() => {}))
    return result
  }

  /**
   * Makes the transaction fail if the write fails, including the checks of its arguments. The caller of the transaction receives
   * the error, so that an unawaited write does not cause an unhandled rejection.
   */
  failWith<T>(write: Promise<T>): Promise<T> {
    if (this.#isOpen)
      this.#awaitAtEnd(
        write.catch((error: unknown) => {
          this.#failure ??= { error, shown: error }
        }),
      )
    return write
  }

  #awaitAtEnd(settled: Promise<unknown>): void {
    const pending = settled.finally(() => this.#pending.delete(pending))
    this.#pending.add(pending)
  }

  async #attempt<T>(effect: 'reads' | 'writes', operation: () => T | Promise<T>, conceals: boolean): Promise<T> {
    try {
      return await operation()
    } catch (error) {
      const described = await toServiceErrorWithin(error)
      const shown = conceals ? concealed(described) : described
      if (effect === 'writes') this.#failure ??= { error: conceals ? error : shown, shown }
      throw shown
    }
  }
}

function concealed(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error
  const { invalidAttributes = {}, model } = error.details
  const isUnique = Object.values(invalidAttributes).some((violations) =>
    violations.some(({ rule }) => rule === 'unique'),
  )
  if (!isUnique) return error
  return new ServiceError('E_CONFLICT', `This ${model} conflicts with another record`, { ...(model && { model }) })
}
