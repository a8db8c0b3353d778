import type { AccessDefinition, AnyUser } from '../../model/access-rules.ts'
import type { ActionDefinitions } from '../../model/actions/action.ts'
import type { AttributeDefinitions, ModelDefinitions } from '../../model/definition.ts'
import type { None, Registry } from '../../model/inference/attributes-of.ts'
import type { JobsOf } from '../../model/inference/jobs-of.ts'
import type { JobDefinitions } from '../../model/job.ts'
import type { Schedule } from '../../model/schedule.ts'
import type { Mirror } from '../../protocol/event.ts'
import type { MigrateMode } from '../../storage/schema.ts'
import type { Clock } from '../../support/clock.ts'
import type { Limits } from '../../support/limits.ts'
import type { Logger } from '../../support/logger.ts'
import type { AuthOptions } from '../auth/identify.ts'
import type { Progress, Seeding } from '../in-process/seed.ts'

/** Which routes are served, and their prefixes. */
export interface RouteOptions {
  /** Prefix of every route, such as `/api`. */
  readonly prefix?: string
  /** Prefix of the REST routes only, after `prefix`, such as `/v2`. */
  readonly restPrefix?: string
  /** `/pets` instead of `/pet`. */
  readonly pluralize?: boolean
  /** Whether REST routes are served; default true. */
  readonly rest?: boolean
  /** Whether GET shortcuts are served; default true. */
  readonly shortcuts?: boolean
  /** Whether shortcuts may write; default true. A shortcut never writes for a page of another origin. */
  readonly shortcutWrites?: boolean
  /** Whether `POST /batch` executes a list of requests; default true. Not served if a model is called `batch`. */
  readonly batch?: boolean
}

/** What responses contain by default. */
export interface AnswerOptions {
  /** Whether associations are embedded, a page of each, if the request has no `populate`; default true. */
  readonly populate?: boolean
  /**
   * Whether `?callback=f` is answered with a script that calls `f`. `true` (default): for programs and pages of the same
   * site; `'cross-site'`: also for pages of other sites, which read anonymously; `false`: never.
   */
  readonly jsonp?: boolean | 'cross-site'
}

/** Pages of other origins that may use the service. */
export interface CorsOptions {
  /** Origins such as `https://app.example`, compared exactly; or '*' for every origin. */
  readonly origins: readonly string[] | '*'
  /** Whether requests may carry credentials; default false. Not together with '*'. */
  readonly credentials?: boolean
  /** For how many seconds a browser may cache a preflight response. By default the browser decides. */
  readonly maxAge?: number
}

/** Socket.IO, as the clients of Sails use it, on the same port as HTTP. */
export interface SocketOptions {
  /** The path of the endpoint; default `/socket.io`. */
  readonly path?: string
  /**
   * The only origins whose pages may connect; the service's own origin is not added. By default the service's own
   * origin and those in `cors`. Clients that send no `Origin`, which are not browsers, may always connect.
   */
  readonly onlyAllowOrigins?: readonly string[]
  /**
   * Which events of its own changes a subscribed socket receives; default `interface`: `updated` and `destroyed`.
   * `true`: also `created`, `addedTo` and `removedFrom`. `false`: none, as with Sails.
   */
  readonly mirror?: Mirror
}

/** The configuration of a service. Only `models` is required. */
export interface Config<
  M extends ModelDefinitions = ModelDefinitions,
  Shared extends AttributeDefinitions = None,
  U = AnyUser,
  A extends ActionDefinitions = None,
> extends Settings<Registry<M, Shared>, U> {
  /** The models by name. */
  readonly models: M
  /** Operations of the application on the whole service: `POST /name`. */
  readonly actions?: A
  /** Attributes of every model, in addition to or instead of `id`, `createdAt` and `updatedAt`; `false` removes one. */
  readonly attributes?: Shared
}

/**
 * The rules of models that declare none. `shadow`: the share of answers, from 0 to 1, for which the rules are evaluated a second
 * time in memory; differences are logged. `shadow` alone does not declare rules.
 */
export type DefaultAccess<U = AnyUser> =
  | 'public'
  | (Exclude<AccessDefinition<U, string>, string> & { readonly shadow?: number })

/** The configuration apart from its models, actions and attributes. `M` are the models with the shared attributes. */
export interface Settings<M extends ModelDefinitions, U> extends RouteOptions, AnswerOptions {
  /**
   * `'sails'`: models are those of a Sails application, of version 0.9 to 1.x. Their options are translated and their
   * lifecycle callbacks run; other functions are reported at start and not run.
   */
  readonly compatibility?: 'sails'
  /** `sqlite:data/app.db` (the default), `sqlite::memory:` or `postgres://user@host/name`. */
  readonly database?: string
  /**
   * `redis://host:6379`, `rediss://host:6379` or `nats://host:4222`: wakes the other processes on one PostgreSQL database
   * after a write, also where a pooler hides the notifications of the server.
   */
  readonly broker?: string
  /**
   * At start: `add` what the schema lacks, change nothing (`safe`), or `drop` and recreate every table. Default: as `add`, but
   * a start that would add columns to a table of another program is refused.
   */
  readonly migrate?: MigrateMode
  /** Names in a body that are not attributes: refused (default), or ignored as Sails does. */
  readonly unknownAttributes?: 'refuse' | 'ignore'
  /**
   * How requests are identified. Without it, every request is anonymous. Place it before all rules: the compiler infers the
   * `user` of rules in this order.
   */
  readonly auth?: AuthOptions<U>
  /** The access rules of models that declare none, and of actions that a model's own rules do not mention. */
  readonly access?: DefaultAccess<U>
  /** Limits that differ from their defaults. */
  readonly limits?: Partial<Limits>
  /**
   * Whether answers and plans are cached between requests; default true. Turn it off to measure, or to find out whether a cache
   * causes an error. `maxStaleMs`: on PostgreSQL, how long an answer is cached although other programs may have changed the data.
   */
  readonly cache?: boolean | { readonly maxStaleMs: number }
  /**
   * `self`: no other program writes the tables of the models, so that answers are cached on PostgreSQL as well; only one process
   * can open the database then. `any` (default): other programs may write. A model's own `writers` overrides this.
   */
  readonly writers?: 'self' | 'any'
  /**
   * Jobs by model, as `on` of a model declares them. Here, after `models`, the compiler infers the types of the records
   * of `{ name, run }`.
   */
  readonly on?: JobsOf<M>
  /** Scheduled jobs by name. */
  readonly jobs?: { readonly [name: string]: Schedule }
  /**
   * Whether this process runs jobs. `true`: as soon as the service is open; `false`: never. Default: once `listen` is called, so
   * that scripts and tests without a server run none.
   */
  readonly runJobs?: boolean
  /** The port of `listen`; default 1337. 0 takes any free port. `--port` and PORT of `keelson start` override it. */
  readonly port?: number
  /** The address that `listen` binds to; default `127.0.0.1`, for this machine only. `0.0.0.0` accepts connections of others. */
  readonly host?: string
  /** The pages of other origins that may use the service; default none. */
  readonly cors?: CorsOptions
  /**
   * Host names under which the service is reached, besides IP addresses and localhost: `['api.example']`. Requests with
   * another `Host` are refused, so that a page cannot reach the service by rebinding its own DNS name. '*' accepts all.
   */
  readonly allowedHosts?: readonly string[] | '*'
  /** Settings of sockets; `false` turns sockets off. */
  readonly sockets?: SocketOptions | false
  /** The path at which Electric's shape protocol is served, such as `/v1/shape`. Not served by default. */
  readonly shapes?: string
  /** Whether `/` shows the models and routes; default true. */
  readonly landingPage?: boolean
  /**
   * A folder of static files, served at every path without a route. A folder's URL serves its `index.html`; the one at
   * the top replaces the landing page for browsers. Names that begin with a dot are not served, nor are symbolic links
   * that lead outside the folder. Relative to the working directory; for the CLI, to the folder of the configuration.
   */
  readonly public?: string
  /**
   * Fills a new database: `keelson start` and `keelson dev` call it once before they serve, when no model has a record
   * yet. After an interruption it is called again at the next start, so it must skip records that exist. Place it after
   * `models`: the compiler infers the types of its records in this order.
   */
  seed?(service: Seeding<M>, progress: Progress): Promise<void>
  /**
   * Receives requests, slow statements, scans, disconnected clients and unexpected errors: `pino()`, or any logger with
   * its `info`, `warn` and `error`, and perhaps `debug` for every statement.
   */
  readonly logger?: Logger
  /** Receives unexpected errors; without it and `logger` they are written to the console. */
  readonly onError?: (error: unknown) => void
  /** For tests: the clock of timestamps, schedules and the expiry of users. Default: that of the system. */
  readonly clock?: Clock
  /** For tests: the generator of UUID keys. Default: UUIDs of version 7. */
  readonly uuid?: () => string
}

/** A configuration without the types of its models. */
export type AnyConfig = Omit<
  Config<ModelDefinitions, AttributeDefinitions, AnyUser, ActionDefinitions>,
  'seed' | 'on'
> & {
  // biome-ignore lint/suspicious/noExplicitAny: the records are not known
  readonly on?: { readonly [model: string]: JobDefinitions<any> | undefined }
  seed?(service: never, progress: Progress): Promise<void>
}

export type { Clock, Limits, MigrateMode, Progress, Seeding }
