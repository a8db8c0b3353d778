import type { None, Registry } from '../model/attributes-of.ts'
import type { AttributeDefinitions, ModelDefinitions } from '../model/definition.ts'
import type { MigrateMode } from '../storage/schema.ts'
import type { Clock } from '../support/clock.ts'
import type { Limits } from '../support/limits.ts'
import type { Progress, Seeding } from './seed.ts'

/** Which routes there are, and where. */
export interface RouteOptions {
  /** In front of every route: `/api`. */
  readonly prefix?: string
  /** In front of the REST routes only, behind `prefix`: `/v2`. */
  readonly restPrefix?: string
  /** `/pets` instead of `/pet`. */
  readonly pluralize?: boolean
  /** The REST routes; true. */
  readonly rest?: boolean
  /** The GET shortcuts; true. */
  readonly shortcuts?: boolean
  /** Shortcuts that write; true. They are refused in any case when a browser says the request comes from another site. */
  readonly shortcutWrites?: boolean
}

/** How answers look when the request does not say. */
export interface AnswerOptions {
  /** Associations are embedded, a page of each; true. */
  readonly populate?: boolean
  /** `?callback=f` gets a script that calls `f`; true. */
  readonly jsonp?: boolean
}

export interface CorsOptions {
  readonly origins: readonly string[] | '*'
  readonly credentials?: boolean
  readonly maxAge?: number
}

/** The protocol of the ancestor's clients, on the same port as HTTP. */
export interface SocketOptions {
  /** Where they connect; `/socket.io`. */
  readonly path?: string
  /**
   * Pages of these origins may connect and no others, not even our own. When nothing is said: our own, and those that
   * `cors` lists. Programs that are no browsers say no origin, and may always connect.
   */
  readonly onlyAllowOrigins?: readonly string[]
  /** Who causes a change hears of it like everybody else; false. */
  readonly mirror?: boolean
}

/** All that a service is told. Only `models` must be given. */
export interface Config<M extends ModelDefinitions = ModelDefinitions, Shared extends AttributeDefinitions = None>
  extends RouteOptions,
    AnswerOptions {
  readonly models: M
  /** Attributes that every model has, beside or instead of `id`, `createdAt` and `updatedAt`; `false` removes one. */
  readonly attributes?: Shared
  /** `sqlite:data/app.db`, `sqlite::memory:`, `postgres://user@host/name`; `sqlite:data/app.db` when nothing is said. */
  readonly database?: string
  /** At start: `add` what is missing (the default), touch nothing (`safe`), or `drop` every table and make it anew. */
  readonly migrate?: MigrateMode
  /** Names in a body that no attribute has: refused (the default) or ignored, as the ancestor does. */
  readonly unknownAttributes?: 'refuse' | 'ignore'
  readonly limits?: Partial<Limits>
  readonly port?: number
  readonly host?: string
  readonly cors?: CorsOptions
  /** Sockets are served unless this is false. */
  readonly sockets?: SocketOptions | false
  /** A page at `/` that shows what is served; true. */
  readonly welcome?: boolean
  /**
   * A folder of files that are served as they are, wherever no route of a model stands: pages, scripts, images. A folder
   * in it is answered with its `index.html`; the one at the top is shown to browsers in place of the welcome page. What
   * has a name that begins with a dot is not served, nor what a link outside the folder leads to. A relative path begins
   * at the working directory, for the command at the configuration’s folder.
   */
  readonly public?: string
  /**
   * Fills a new database, once: `keelson start` and `keelson dev` call it before they serve, when no model has a record
   * yet. If it was interrupted it is called again at the next start, so it must pass over what is there already. It
   * stands behind `models`, for the compiler reads in this order and gives it the types of their records.
   */
  seed?(service: Seeding<Registry<M, Shared>>, progress: Progress): Promise<void>
  /** Told of errors that are nobody's fault but ours; they are written to the console when nothing is given. */
  readonly report?: (error: unknown) => void
  /** For tests: time, and keys that are generated. */
  readonly clock?: Clock
  readonly uuid?: () => string
}

/** A configuration of whatever models. */
export type AnyConfig = Omit<Config<ModelDefinitions, AttributeDefinitions>, 'seed'> & {
  seed?(service: never, progress: Progress): Promise<void>
}

export type { Clock, Limits, MigrateMode, Progress, Seeding }
