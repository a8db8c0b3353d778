import type { JsonObject } from '../protocol/json.ts'
import type { AnyUser } from './access-rules.ts'

/*
 * Hooks: functions of the application that run with a write. `before` precedes the transaction and `within` is part of it.
 */

/** The kinds of writes that hooks are declared for. */
export const hookedWrites = ['create', 'update', 'destroy'] as const
export type HookedWrite = (typeof hookedWrites)[number]

/** The context of a hook: on whose behalf it runs, and the records that it may use. */
// biome-ignore-start lint/suspicious/noExplicitAny: records and user are those of the application, which annotates them
export interface HookContext<Records = any, U = AnyUser> {
  /** What `auth.identify` returned; null for an anonymous requester, and for the system. */
  readonly user: U | null
  /** True if code in the same process writes on behalf of the system. */
  readonly isSystem: boolean
  /** The records of all models, under the access rules of the requester. */
  readonly records: Records
  /** The records of all models, without access rules. */
  readonly system: { readonly records: Records }
}

/** The context of a hook before an update or a destroy. */
export interface ChangeHookContext<R = any, Records = any, U = AnyUser> extends HookContext<Records, U> {
  /** The record as it was stored before the transaction began. */
  readonly previous: R
}

/** The context of a hook within the transaction. */
export interface WithinContext<Records = any, U = AnyUser> {
  /** What `auth.identify` returned; null for an anonymous requester, and for the system. */
  readonly user: U | null
  /** True if code in the same process writes on behalf of the system. */
  readonly isSystem: boolean
  /** The records of all models in this transaction, without access rules. The hook must not await anything else. */
  readonly tx: Records
}

/**
 * Functions that run before the transaction of a write, and may be asynchronous. `create` and `update` receive the given values
 * and may return others, which are validated and checked by the access rules. Each may throw `refuse(…)`, which ends the request
 * with that error.
 */
export interface BeforeHooks<U = AnyUser> {
  readonly create?: (values: any, context: HookContext<any, U>) => unknown
  readonly update?: (values: any, context: ChangeHookContext<any, any, U>) => unknown
  readonly destroy?: (context: ChangeHookContext<any, any, U>) => unknown
}

/** Functions that run in the transaction of a write, once for each record. If one throws, the transaction is rolled back. */
export interface WithinHooks<U = AnyUser> {
  readonly create?: (context: WithinContext<any, U> & { readonly record: any }) => unknown
  readonly update?: (context: WithinContext<any, U> & { readonly previous: any; readonly record: any }) => unknown
  readonly destroy?: (context: WithinContext<any, U> & { readonly previous: any }) => unknown
}
// biome-ignore-end lint/suspicious/noExplicitAny: see above

/** The hooks of a model. They run for every write by this process, and not for writes by other programs. */
export interface HookDefinitions<U = AnyUser> {
  /** Run before the transaction. */
  readonly before?: BeforeHooks<U>
  /** Run in the transaction. */
  readonly within?: WithinHooks<U>
}

/** All hooks of a model. */
export interface ModelHooks {
  readonly before: BeforeHooks
  readonly within: WithinHooks
  readonly lifecycle: LifecycleCallbacks
}

/** Lifecycle callbacks of a Sails application, at the moments that definitions of this package do not have. */
export interface LifecycleCallbacks {
  /** After validation and before the transaction. They change the object, whose rules are not applied again. */
  readonly validated?: { readonly [purpose in 'create' | 'update']?: ((values: JsonObject) => unknown) | undefined }
  /** After the commit and before the answer. Their errors are reported. */
  readonly after?: { readonly [write in HookedWrite]?: ((record: JsonObject) => unknown) | undefined }
}

/** The member of translated definitions that has the callbacks. A symbol: definitions of this package cannot have it. */
export const lifecycle: unique symbol = Symbol('lifecycle callbacks')
export type TranslatedHooks = HookDefinitions & { readonly [lifecycle]?: LifecycleCallbacks }

export const modelHooks = (definitions: TranslatedHooks): ModelHooks => ({
  before: definitions.before ?? {},
  within: definitions.within ?? {},
  lifecycle: definitions[lifecycle] ?? {},
})
