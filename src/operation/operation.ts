import type { Populate } from '../criteria/criteria.ts'
import type { Association, Attribute, Model, Models } from '../model/model.ts'
import type { ValidationContext } from '../model/validate.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { Reads, Records, Store } from '../storage/store.ts'
import type { Limits } from '../support/limits.ts'
import type { Maybe } from '../support/maybe.ts'

/** Whether a route is one of the REST routes, or a GET that carries everything in its address. */
export const styles = ['rest', 'shortcut'] as const
export type Style = (typeof styles)[number]

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Segments that begin with a colon stand for `:model`, `:record`, `:association`, `:child`. */
  readonly path: string
  readonly style: Style
}

/** What a request is about. */
export interface Target {
  readonly model: Model
  /** Given by the routes that have it in their path. */
  readonly association?: Association | undefined
}

/** Who asks, and on what condition. */
export interface Asking {
  /** For the log of changes. */
  readonly origin?: string | undefined
  /** A write happens only if the record is in one of these versions; '*': if it is there at all. */
  readonly versions?: readonly string[] | '*' | undefined
}

/** What somebody gave, by where they gave it: in the path, in the query string, in the body. */
export interface Parameters {
  readonly style: Style
  readonly record?: string | number | undefined
  readonly child?: string | number | undefined
  readonly query: JsonObject
  readonly body: JsonObject
  /** The body, when it was a list. */
  readonly list?: readonly Json[] | undefined
  /** Whether associations are embedded when nothing is said of them. */
  readonly populates: boolean
}

/** What operations know besides the request. Made once. */
export interface Context extends ValidationContext {
  readonly models: Models
  readonly limits: Limits
  /** What becomes of names in a body that the model does not know. */
  readonly unknownAttributes: 'refuse' | 'ignore'
  /** The attributes, of all models, that hold the key of this one. */
  readonly pointingTo: ReadonlyMap<Model, readonly Pointer[]>
  /** To-one attributes that the database does not check itself. */
  readonly unenforced: ReadonlySet<Attribute>
  /** What cursors are sealed with. */
  readonly secret: string
}

export interface Pointer {
  readonly model: Model
  readonly attribute: Attribute
}

/** What was done. What there is to tell of it is in the log of changes, written in the same transaction. */
export interface Outcome {
  readonly kind: 'list' | 'record' | 'created'
  /** Whose records they are. */
  readonly model: Model
  readonly records: Records
  /** What is embedded in them. */
  readonly populate: readonly Populate[]
  /** The record as it is stored, whole and with nothing embedded: what its version is taken from. */
  readonly stored?: Records | undefined
  /** The one that was added to an association, even if it was a member before. */
  readonly member?: Json | undefined
  /** How many there are on all pages. */
  readonly total?: number | undefined
  /** Where the next page begins. */
  readonly next?: string | undefined
}

interface Asked<Input> {
  readonly name: string
  readonly routes: readonly Route[]
  /** Resolves every name, or throws, before anything happens. */
  parse(parameters: Parameters, target: Target, context: Context): Input
}
export interface ReadOperation<Input = unknown> extends Asked<Input> {
  readonly effect: 'reads'
  run(input: Input, target: Target, reads: Reads, context: Context): Maybe<Outcome>
}
export interface WriteOperation<Input = unknown> extends Asked<Input> {
  readonly effect: 'writes'
  run(input: Input, target: Target, store: Store, context: Context, asking: Asking): Maybe<Outcome>
}

/** One thing that can be asked of a model. To add one: a file here and a line in `operations.ts`. */
export type Operation<Input = unknown> = ReadOperation<Input> | WriteOperation<Input>

export const parameter = ({ query, body }: Parameters, name: string): Json | undefined =>
  Object.hasOwn(body, name) ? body[name] : Object.hasOwn(query, name) ? query[name] : undefined
