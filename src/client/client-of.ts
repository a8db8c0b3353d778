import type { ModelDefinitions } from '../model/definition.ts'
import type { ModelName, None, Registry } from '../model/inference/attributes-of.ts'
import type { KeyOf } from '../model/inference/value-of.ts'
import type { ClientActions, ClientModelActions } from './client-actions.ts'
import type { ClientRecords } from './client-records.ts'
import type { CallOptions } from './options.ts'

/** The models of a configuration, or of a module that exports only them. */
export type ModelsOf<C> = C extends { readonly models: infer M extends ModelDefinitions }
  ? Registry<M, SharedOf<C>>
  : C extends ModelDefinitions
    ? C
    : ModelDefinitions
type SharedOf<C> = C extends { readonly attributes?: infer Shared } ? Exclude<Shared, undefined> & {} : None

/** The operations of a client. Models with the name of one of its own members are reached by `records`. */
export type Client<M extends ModelDefinitions, A = None> = ClientMembers<M, A> & {
  readonly [N in Exclude<ModelName<M>, keyof ClientMembers<M, A>>]: ModelMember<M, N>
}

type ModelMember<M extends ModelDefinitions, N extends ModelName<M>> = ClientRecords<M, N> &
  ClientModelActions<M[N], KeyOf<M, N>>

/** The service's own actions in a configuration. */
export type ActionsIn<C> = C extends { readonly actions?: infer A } ? Exclude<A, undefined> & {} : None

/**
 * The operations of a batch; their promises resolve with its response. Operations that take several requests are not included.
 */
export type BatchRecords<M extends ModelDefinitions> = {
  readonly [N in ModelName<M>]: ClientRecords<M, N>
} & {
  /** The result of an earlier operation, to be used in later ones: `tx.result(owner).id`. */
  result<T>(operation: Promise<T>): T
}

/** The members of a client, besides its models. */
export interface ClientMembers<M extends ModelDefinitions, A = None> extends Disposable {
  /** Operations on records, and actions, by the name of the model. */
  readonly records: { readonly [N in ModelName<M>]: ModelMember<M, N> }
  /** The actions of the service. */
  readonly actions: ClientActions<A>
  /**
   * Sends the operations of `work` in one request, which are executed in one transaction, and resolves with the results of the
   * promises that `work` returns. If one operation fails, nothing is written, and the batch rejects with its error.
   */
  batch<const T extends readonly unknown[]>(
    work: (tx: BatchRecords<M>) => T,
    call?: CallOptions,
  ): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }>
  /**
   * The writes that are not answered yet. With the option `outbox`, they include those that wait until the service can be
   * reached.
   */
  readonly outbox: Outbox
  /** Closes all live queries and the outbox. Writes in the outbox stay in its storage; their promises are never settled. */
  close(): void
}

/** The writes of a client that are not answered yet. */
export interface Outbox {
  /** The number of writes. */
  readonly size: number
  /** Calls the listener after each change of `size`. The returned function ends this. */
  subscribe(listener: () => void): () => void
}
