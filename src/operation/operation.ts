import type { Condition, Populate } from '../criteria/criteria.ts'
import type { Action } from '../model/access-rules.ts'
import type { Association, Attribute, Model, Models } from '../model/model.ts'
import type { ValidationContext } from '../model/validate.ts'
import type { EncodedJson, Json, JsonObject } from '../protocol/json.ts'
import type { Requester } from '../protocol/requester.ts'
import type { SubscriptionRequest } from '../realtime/socket/subscription-request.ts'
import type { ScopedReads, ScopedStore } from '../storage/scoped-store.ts'
import type { ReadOptions, Records } from '../storage/store.ts'
import type { WriteOrigin } from '../storage/write-origin.ts'
import type { Limits } from '../support/limits.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import type { CursorSeal } from './cursor.ts'
import type { FindShapes } from './find-shapes.ts'
import type { HookServices } from './hooks/hook-services.ts'
import type { Parameter } from './parameters.ts'
import type { VersionHash } from './version.ts'

/** Whether a route is one of the REST routes, or a GET that carries everything in its address. */
export const styles = ['rest', 'shortcut'] as const
export type Style = (typeof styles)[number]

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Segments that begin with a colon stand for `:model`, `:record`, `:association`, `:child`. */
  readonly path: string
  readonly style: Style
  /** Serves the requests at this address that send this; all others are served by the route without it. */
  readonly when?: RouteCondition
}

/** A list as the body, or a parameter of the query string. */
export type RouteCondition = 'list' | 'where' | 'upsert'

/** What a request is about. */
export interface Target {
  readonly model: Model
  /** Given by the routes that have it in their path. */
  readonly association?: Association | undefined
}

/** The versions one of which the record must be in; `'*'`: any version, but the record must exist; `'none'`: it must not exist. */
export type Precondition = readonly string[] | '*' | 'none'

/**
 * One call of one operation by one requester. HTTP, sockets, streams and code in the same process all build this, and
 * nothing else reaches an operation.
 */
export interface Invocation<Input = unknown> {
  readonly operation: Operation<Input>
  readonly target: Target
  /** Parsed: every name is resolved. */
  readonly input: Input
  readonly requester: Requester
  readonly precondition?: Precondition | undefined
  /** What caused a write, for the change log. */
  readonly origin?: WriteOrigin | undefined
  /** Long reads end when it disconnects. */
  readonly client?: ReadOptions | undefined
  /** Whether the client can be sent a body in pieces: a socket and a batch cannot. */
  readonly acceptsStream?: boolean
  /** The headers of the request, for actions of the application. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined
}

/** The parameters of a request by the place they were sent in. */
export interface ParameterValues {
  readonly style: Style
  readonly record?: string | number | undefined
  readonly child?: string | number | undefined
  readonly query: JsonObject
  readonly body: JsonObject
  /** The body came in a format whose values are all text: a form or XML. Values of the query string always are text. */
  readonly hasTextBody?: boolean
  /** The body, when it was a list. */
  readonly list?: readonly Json[] | undefined
  /** Whether associations are embedded when the request does not say. */
  readonly populates: boolean
  /** Whether the requester may give a value for an attribute. Undefined: for every one. */
  readonly mayWrite?: ((attribute: Attribute) => boolean) | undefined
  /** Recognises a value that is known only when the record is written. Undefined: there are none. */
  readonly laterValue?: ((raw: JsonObject) => LaterValue | undefined) | undefined
}

/** A value that is known only when the record is written, such as the key of a record of the same transaction. */
export type LaterValue = () => Json

/** What operations need besides the invocation. Made once per service. */
export interface OperationServices extends ValidationContext {
  readonly models: Models
  readonly limits: Limits
  /** What happens to names in a body that the model does not have. */
  readonly unknownAttributes: 'refuse' | 'ignore'
  /** By model, the attributes of all models that hold its key. */
  readonly referencedBy: ReadonlyMap<Model, readonly ForeignKeyReference[]>
  /** To-one attributes without a foreign key in the database. */
  readonly unenforced: ReadonlySet<Attribute>
  /** The secret of the database: what is derived from it is equal in all processes that share the database. */
  readonly secret: string
  readonly cursors: CursorSeal
  readonly versionHash: VersionHash
  /** Lists by shape. Undefined: every request is parsed and compiled. */
  readonly shapes?: FindShapes | undefined
  /** Undefined: no model declares a hook. */
  readonly hooks: HookServices | undefined
}

export interface ForeignKeyReference {
  readonly model: Model
  readonly attribute: Attribute
}

/** What was read or done. Its events are in the change log, written in the same transaction. */
export type OperationResult = RecordsResult | RecordResult | JsonResult | EmptyResult | ActionResult

/** A page of a list. */
export interface RecordsResult {
  readonly kind: 'records'
  readonly model: Model
  readonly records: Records
  /** What is embedded in them. */
  readonly populate: readonly Populate[]
  /** How many there are on all pages, when it was asked for. */
  readonly total?: number | undefined
  /** The cursor of the next page. */
  readonly next?: string | undefined
  /** They are new. */
  readonly created?: boolean
}

export interface RecordResult {
  readonly kind: 'record'
  readonly model: Model
  /** Holds one. */
  readonly records: Records
  readonly populate: readonly Populate[]
  readonly created?: boolean
  /** The record as it is stored, with all attributes and nothing embedded: its version is the hash of this. */
  readonly stored?: Records | undefined
  /** The key of the record that was added to an association, also when it was a member before. */
  readonly member?: Json | undefined
}

export interface JsonResult {
  readonly kind: 'json'
  readonly value: Json
  readonly created?: boolean
}

export interface EmptyResult {
  readonly kind: 'empty'
}

/** The result of an action of the application. */
export interface ActionResult {
  readonly kind: 'action'
  /** As the action returned it, for code in the same process. */
  readonly value: unknown
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: EncodedJson
  /** Instead of a body. */
  readonly stream?: AsyncIterable<string | Uint8Array>
}

interface Description<Input, Result> {
  readonly name: string
  readonly routes: readonly Route[]
  /** Names that have a meaning of their own here; every other name is an attribute. */
  readonly parameters: readonly Parameter[]
  /** The body may be a list. */
  readonly acceptsList?: boolean
  /** No name in the body has a meaning for the transport. */
  readonly takesWholeBody?: boolean
  /** The parsed input of a GET depends on its address alone, and is worth keeping: lists are asked for again and again. */
  readonly cachesPlan?: boolean
  /** Without parameters, the answer depends on the key and on what is embedded alone. */
  readonly keepsByKey?: boolean
  /** The rule that may refuse it for every record. Those of associations are applied where members change. */
  readonly action?: Action
  /** What `Accept: text/event-stream` at the same address listens to. */
  readonly streams?: 'model' | 'record'
  /** Resolves every name, or throws a ServiceError, before anything happens. */
  parse(parameters: ParameterValues, target: Target, services: OperationServices): Input
  /** What the socket that asked is subscribed to. */
  subscriptions?(result: Result, invocation: Invocation<Input>): SubscriptionRequest
}

export interface ReadOperation<Input = unknown, Result extends OperationResult = OperationResult>
  extends Description<Input, Result> {
  readonly effect: 'reads'
  /** The condition on records of the model itself, so that a sample of answers can be checked against it. */
  conditionOf?(invocation: Invocation<Input>): Condition
  /** Answers without a promise where the database does. */
  run(invocation: Invocation<Input>, reads: ScopedReads, services: OperationServices): MaybePromise<Result>
}
/**
 * A write has two stages. `prepare` runs functions of the application on the input: hooks and schemas. It precedes the
 * transaction, so it may wait, and several writes of one transaction are all prepared before it begins. `run` writes.
 */
export interface WriteOperation<Input = unknown, Result extends OperationResult = OperationResult, Prepared = unknown>
  extends Description<Input, Result> {
  readonly effect: 'writes'
  prepare(invocation: Invocation<Input>, reads: ScopedReads, services: OperationServices): MaybePromise<Prepared>
  run(
    invocation: Invocation<Input>,
    prepared: Prepared,
    store: ScopedStore,
    services: OperationServices,
  ): Promise<Result>
}

/** One thing that can be done with a model. To add one: a file here and a line in `operations.ts`. */
export type Operation<Input = unknown> = ReadOperation<Input> | WriteOperation<Input>
