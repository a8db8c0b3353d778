import type { AnyUser, Rule, RuleOutcome } from '../access-rules.ts'
import type { ModelDefinitions } from '../definition.ts'
import type { ModelName } from '../inference/attributes-of.ts'
import type { RecordOf } from '../inference/record-of.ts'
import type { Records, TransactionRecords } from '../inference/records-of.ts'
import type { StandardSchema } from '../standard-schema.ts'

/** Whether an action is called on one record, on a model, or on the whole service. */
export const actionSubjects = ['record', 'model', 'service'] as const
export type ActionSubject = (typeof actionSubjects)[number]

/** The members of every action's context, besides its records. */
interface Call<Input, U> {
  /** The output of the `input` schema; undefined for an action without one. */
  readonly input: Input
  /** What `auth.identify` returned; null for an anonymous requester and for the system. */
  readonly user: U | null
  /** True if code in the same process runs the action on behalf of the system. */
  readonly isSystem: boolean
  /** Headers of the request, or of the request that opened the socket, by name in lower case. Empty in the same process. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Aborted when the client disconnects and when the time limit is exceeded. */
  readonly signal: AbortSignal
}

/** The record of an action on a record, as the requester may read it. */
interface WithRecord<R> {
  readonly record: R
}

/** Records within the transaction of the action, which is committed with the result. */
interface Transactional<T> {
  /** The records of all models under the rules of the requester, in the transaction of the action. */
  readonly tx: T
  /** The same records without access rules, in the same transaction. */
  readonly system: { readonly records: T }
}

/** Records outside of a transaction. */
interface Direct<R> {
  /** The records of all models under the rules of the requester. Each write is its own transaction. */
  readonly records: R
  /** The same records without access rules. */
  readonly system: { readonly records: R }
}

/** The argument of `run` of an action. */
export type ActionContext<
  On extends ActionSubject,
  Input,
  Method extends ActionMethod,
  Tx extends boolean,
  K extends Known,
> = Call<Input, K['user']> &
  (On extends 'record' ? WithRecord<K['record']> : unknown) &
  (Method extends 'GET' ? Direct<K['records']> : Tx extends false ? Direct<K['records']> : Transactional<K['tx']>)

/** The types of the models and the user, as far as they are known where an action is declared. */
export interface Known {
  readonly user: unknown
  readonly record: unknown
  readonly records: unknown
  readonly tx: unknown
}

// biome-ignore lint/suspicious/noExplicitAny: nothing is known of the models
type AnyRecord = Readonly<Record<string, any>>
/** For an action that is declared among the models themselves. */
interface NothingKnown {
  readonly user: AnyUser
  readonly record: AnyRecord
  readonly records: AnyRecord
  readonly tx: AnyRecord
}
type ModelsKnown<M extends ModelDefinitions, N, U> = {
  readonly user: U
  readonly record: N extends ModelName<M> ? RecordOf<M, N> : AnyRecord
  readonly records: Records<M>
  readonly tx: TransactionRecords<M>
}

export type ActionMethod = 'GET' | 'POST'

/** The declaration of an action without `run`. */
export interface ActionOptions<
  On extends ActionSubject,
  In,
  Out,
  Method extends ActionMethod,
  Tx extends boolean,
  U = AnyUser,
> {
  /** Whether it is called on one record, on the model, or on the service. */
  readonly on: On
  /** A Standard Schema (zod, valibot, arktype) of the input. An action without one takes no input. */
  readonly input?: In
  /** A Standard Schema of the result; a result that it refuses is an error of the action. */
  readonly result?: Out
  /**
   * The rule for requesters that may run the action, like a rule of a model. For an action on a record, its function may return a
   * condition on the record.
   */
  readonly access?: Rule<RuleOutcome, U>
  /** `'GET'` for an action that only reads; its input comes from the query string. Default `'POST'`. */
  readonly method?: Method
  /**
   * Whether `run` is one transaction; default true. With false, `run` may wait for anything, and each write in it is its own
   * transaction.
   */
  readonly transaction?: Tx
  /** For documentation. */
  readonly description?: string
}

/** An action as it is declared. `types` exists for the compiler only. */
export interface ActionDefinition<On extends ActionSubject = ActionSubject, Input = unknown, Result = unknown>
  extends ActionOptions<On, StandardSchema | undefined, StandardSchema | undefined, ActionMethod, boolean> {
  // biome-ignore lint/suspicious/noExplicitAny: what it is given depends on the declaration
  run(context: any): unknown
  readonly types?: { readonly input: Input; readonly result: Result }
}

export type ActionDefinitions = {
  // biome-ignore lint/suspicious/noExplicitAny: `any` accepts every input and result
  readonly [name: string]: ActionDefinition<ActionSubject, any, any>
}

type TypesOf<S extends StandardSchema> = NonNullable<S['~standard']['types']>
type InputOf<S> = S extends StandardSchema ? TypesOf<S>['input'] : undefined
type OutputOf<S> = S extends StandardSchema ? TypesOf<S>['output'] : undefined
/** The result that a schema declares, or what `run` returns. */
type ResultOf<Out, Result> = Out extends StandardSchema ? TypesOf<Out>['output'] : Awaited<Result>

/** Declares an action whose records have the types of `K`. */
export type DeclareAction<K extends Known> = <
  const On extends ActionSubject,
  In extends StandardSchema | undefined = undefined,
  Out extends StandardSchema | undefined = undefined,
  const Method extends ActionMethod = 'POST',
  const Tx extends boolean = true,
  Result = unknown,
>(
  definition: ActionOptions<On, In, Out, Method, Tx, K['user']> & {
    run(context: NoInfer<ActionContext<On, OutputOf<In>, Method, Tx, K>>): Result
  },
) => ActionDefinition<On, InputOf<In>, ResultOf<Out, Result>>

/**
 * An operation of the application: a route, a function of the in-process records, and a transaction. Its input and result
 * are typed by schemas; its records are not typed where the models are still being declared: see `actionFor`.
 */
export const action: DeclareAction<NothingKnown> = (definition) => definition as never

/**
 * `action` with the types of models that are declared already, and of the user that `auth.identify` returns:
 * `const action = actionFor<typeof models, 'pet', User>()`.
 */
export const actionFor = <
  M extends ModelDefinitions,
  N extends ModelName<M> | undefined = undefined,
  U = AnyUser,
>(): DeclareAction<ModelsKnown<M, N, U>> => action as never
