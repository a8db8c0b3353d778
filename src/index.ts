import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { AnyUser } from './model/access-rules.ts'
import type { ActionDefinitions } from './model/actions/action.ts'
import type { AttributeDefinitions, ModelDefinitions } from './model/definition.ts'
import type { ServiceActions } from './model/inference/actions-of.ts'
import type { None, Registry } from './model/inference/attributes-of.ts'
import type { Records, TransactionRecords } from './model/inference/records-of.ts'
import { type Requester, system, type User } from './protocol/requester.ts'
import { requesterOf } from './service/auth/identify.ts'
import type {
  CheckedConfig,
  InferredAttributes,
  InferredModels,
  KnownUser,
  ModelsOf,
  OwnActionsOf,
  SharedOf,
} from './service/config/checked-config.ts'
import type { AnyConfig, Config } from './service/config/config.ts'
import { type OpenService, openService } from './service/open-service.ts'
import { systemClock } from './support/clock.ts'
import type { Limits } from './support/limits.ts'
import { assertNodeVersion } from './support/node-version.ts'
import { fetchHandler } from './transport/http/fetch.ts'
import { type HttpServer, type ListenOptions, listen } from './transport/http/listen.ts'
import { handler } from './transport/http/serve.ts'
import { type SocketServer, serveSockets } from './transport/socket/serve-sockets.ts'
import type { WorkerChannel } from './transport/worker-channel.ts'

assertNodeVersion(process.versions.node)

export type {
  AccessDefinition,
  AttributeAccess,
  Rule,
  RuleCondition,
  RuleContext,
  RuleOutcome,
} from './model/access-rules.ts'
export {
  type ActionContext,
  type ActionDefinition,
  type ActionDefinitions,
  action,
  actionFor,
} from './model/actions/action.ts'
export { ConfigError } from './model/config-error.ts'
export type {
  AttributeDefinition,
  AttributeDefinitions,
  IndexDefinition,
  IndexOptions,
  ModelDefinition,
  ModelDefinitions,
} from './model/definition.ts'
export type { ChangeHookContext, HookContext, HookDefinitions, WithinContext } from './model/hooks.ts'
export type { Registry } from './model/inference/attributes-of.ts'
export type { FindOneOptions, FindOptions } from './model/inference/find-options.ts'
export type { Found, Page } from './model/inference/found.ts'
export type {
  LiveChange,
  LiveEvent,
  LiveEvents,
  LiveOptions,
  LivePlace,
  LiveQueryOptions,
  LiveResult,
  LiveResults,
} from './model/inference/live-of.ts'
export type { CreateInput, RecordOf, UpdateInput } from './model/inference/record-of.ts'
export type { ModelRecords, RecordOperations, Records, TransactionRecords } from './model/inference/records-of.ts'
export type { Sort } from './model/inference/sort-of.ts'
export type { Where } from './model/inference/where-of.ts'
export { type EventJobContext, type Job, type JobContext, type JobEvent, type JobOptions, job } from './model/job.ts'
export { type Schedule, type ScheduleContext, type ScheduleTimes, schedule } from './model/schedule.ts'
export type { Change, Position, RecordId } from './protocol/change.ts'
export { type ErrorCode, type InvalidAttributes, refuse, ServiceError } from './protocol/errors.ts'
export type { Json, JsonObject } from './protocol/json.ts'
export {
  type ActionFile,
  type ActionReply,
  type FileOptions,
  file,
  type ReplyOptions,
  reply,
} from './service/actions/reply.ts'
export type { Config, CorsOptions, DefaultAccess, RouteOptions, SocketOptions } from './service/config/config.ts'
export { loadModels } from './service/config/load-models.ts'
export type { DeadLetterSummary, JobControl, JobSummary } from './service/jobs.ts'
export type { ChangeBatch, ChangeLog } from './storage/change-log.ts'
export type { DeadLetterSelection } from './storage/job-store.ts'
export type { SchemaStep } from './storage/schema-step.ts'
export type { Limits } from './support/limits.ts'
export type { Logger } from './support/logger.ts'
export type { HttpServer } from './transport/http/listen.ts'

export { type Webhook, type WebhookOptions, webhook } from './transport/webhook/webhook.ts'

/** The port when neither the configuration nor the caller says one. */
export const defaultPort = 1337

export type { User } from './protocol/requester.ts'
export type { AuthOptions, AuthRequest } from './service/auth/identify.ts'
export type { JwtOptions, TokenClaims } from './service/auth/jwt.ts'

/** What code in the same process does on behalf of the system or of one user. */
export interface Actor<M extends ModelDefinitions, A extends ActionDefinitions = None> {
  /** Operations on records, and actions, by the name of the model. */
  readonly records: Records<M>
  /** The actions of the service; those of a model are beside its records. */
  readonly actions: ServiceActions<A>
  /**
   * Runs `work` in one transaction, which is committed when it resolves and rolled back when it rejects. Only `tx` takes
   * part in it. After a conflict with another transaction `work` runs again from the beginning, so it must have no other
   * effects. A write of `tx` that fails also fails the transaction. Rejects with a ServiceError, E_TIMEOUT, after
   * `transactionTimeoutMs`.
   */
  transaction<T>(work: (tx: TransactionRecords<M>) => T | Promise<T>): Promise<T>
}

/** A running service: its records for code in this process, and its handlers for transports. */
export interface Service<
  M extends ModelDefinitions = ModelDefinitions,
  Shared extends AttributeDefinitions = None,
  U = AnyUser,
  A extends ActionDefinitions = None,
> extends Pick<OpenService, 'handle' | 'models' | 'warnings' | 'routes' | 'changes' | 'limits' | 'database' | 'jobs'>,
    AsyncDisposable {
  /** Operations on behalf of the application itself: no access rules apply. */
  readonly system: Actor<Registry<M, Shared>, A>
  /** Operations under the access rules of a user; null is anonymous. Throws an Error if the configuration declares no rules. */
  as(user: UserOf<U> | null): Actor<Registry<M, Shared>, A>
  /** Answers requests of `node:http`: a listener of `createServer`, or the last middleware of a framework. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void
  /**
   * For the event `upgrade` of a `node:http` server of the application: serves or refuses the socket connections of
   * this service and returns true. Returns false for other upgrades, which another handler of the application must take
   * or refuse. Closing the service closes these sockets; a server that closes waits for them.
   */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean
  /** Answers a `Request` with a `Response`, for runtimes and frameworks that use these. */
  readonly fetch: (request: Request) => Promise<Response>
  /**
   * Serves HTTP, and sockets on the same port unless they are turned off. Default: `port` (1337) and `host` (127.0.0.1) of
   * the configuration; port 0 takes any free port. Rejects with the system's error, such as EADDRINUSE.
   */
  listen(port?: number, host?: string): Promise<HttpServer>
  /** Answers the requests that were sent, within `stopTimeoutMs`, ends sockets and streams, and closes the database. */
  close(): Promise<void>
}

/** An actor before the promised types are laid over it. */
interface LooseActor {
  readonly records: object
  readonly actions: object
  transaction<T>(work: (tx: object) => T | Promise<T>): Promise<T>
}

/** What `auth.identify` returns, or any object where its type is not known. */
type UserOf<U> = 0 extends 1 & U ? User : U

/**
 * Returns the configuration unchanged, with the types of its models and of the user that `auth.identify` returns: for the
 * default export of `keelson.config.ts`. A mistake in a model or a rule is an error of the compiler at its place.
 */
export const defineConfig = <
  const M extends InferredModels,
  const Shared extends InferredAttributes | undefined,
  U,
  const A extends ActionDefinitions | undefined,
  Late,
>(
  config: CheckedConfig<M, Shared, U, A, Late>,
): Config<ModelsOf<M>, SharedOf<Shared>, KnownUser<U>, OwnActionsOf<A>> => config as never

/**
 * A service of the models in `config`: opens the database and brings its schema up to date as far as `migrate` allows.
 * Nothing listens until `listen` is called or a handler is mounted. Rejects with a ConfigError that names everything that
 * is wrong with the configuration, or with the error of the database.
 */
export async function createService<
  const M extends InferredModels,
  const Shared extends InferredAttributes | undefined,
  U,
  const A extends ActionDefinitions | undefined,
  Late,
>(
  config: CheckedConfig<M, Shared, U, A, Late>,
): Promise<Service<ModelsOf<M>, SharedOf<Shared>, KnownUser<U>, OwnActionsOf<A>>> {
  const service = await openService(config)
  const limits = transportLimits(service.limits)
  const { onError, observe, waiting } = service
  const options = { onError, observe, cors: config.cors, allowedHosts: config.allowedHosts, waiting }
  const servers = new Set<HttpServer>()
  const mounted = openSockets(service, config)
  const actor = (
    requester: Requester,
    records: OpenService['records'],
  ): Actor<Registry<ModelsOf<M>, SharedOf<Shared>>, OwnActionsOf<A>> => {
    const loose: LooseActor = {
      records: Object.fromEntries(records),
      actions: service.actionsFor(requester),
      transaction: (work) => service.transaction(requester, (within) => work(Object.fromEntries(within))),
    }
    return loose as unknown as Actor<Registry<ModelsOf<M>, SharedOf<Shared>>, OwnActionsOf<A>>
  }
  let isClosed = false
  const close = async () => {
    isClosed = true
    service.endWaiting()
    const stopping = [...servers]
    servers.clear()
    const jobsStopped = service.stopJobs(limits.stopTimeoutMs)
    await Promise.all([jobsStopped, mounted?.stop(), ...stopping.map((server) => server.stop())])
    await service[Symbol.asyncDispose]()
  }
  return {
    ...service,
    system: actor(system, service.records),
    as(user) {
      if (!service.hasRules)
        throw new Error('service.as() needs access rules, and this configuration declares none: use service.system')
      const requester = requesterOf(user as User | null, () => (config.clock ?? systemClock).now())
      return actor(requester, service.recordsFor(requester))
    },
    handler: handler(service, limits, { ...options, intercept: mounted, script: mounted?.script }),
    upgrade: (request, socket, head) => mounted?.upgrade(request, socket, head) ?? false,
    fetch: fetchHandler(service, limits, options),
    async listen(port = config.port ?? defaultPort, host = config.host, workers?: WorkerChannel) {
      if (isClosed) throw new Error('The service is closed')
      const server = await serve(service, config, { ...options, limits, port, host, workers })
      servers.add(server)
      try {
        if (isClosed) throw new Error('The service is closed')
        await service.startJobs()
        return server
      } catch (error) {
        servers.delete(server)
        await server.stop()
        throw error
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** The transports stop a little earlier than the service, which then closes the database. */
const transportLimits = (limits: Limits): Limits => ({
  ...limits,
  stopTimeoutMs: Math.ceil(limits.stopTimeoutMs * 0.9),
})

/** HTTP, with sockets on the same port if they are wanted; both stop together. */
async function serve(service: OpenService, config: AnyConfig, options: ListenOptions): Promise<HttpServer> {
  if (options.workers) service.nameWorker(options.workers.id)
  const sockets = openSockets(service, config, options.workers)
  if (!sockets) return listen(service, options)
  const { script, upgrade } = sockets
  const server = await listen(service, { ...options, intercept: sockets, script, upgrade })
  const stop = async () => {
    await Promise.all([sockets.stop(), server.stop()])
  }
  return { ...server, stop, [Symbol.asyncDispose]: stop }
}

/** Sockets for one server, unless they are turned off. */
function openSockets(service: OpenService, config: AnyConfig, workers?: WorkerChannel): SocketServer | undefined {
  if (config.sockets === false) return undefined
  const { cors, allowedHosts } = config
  const { onError, observe } = service
  return serveSockets(service, {
    ...config.sockets,
    limits: transportLimits(service.limits),
    waiting: service.waiting,
    workers,
    cors,
    allowedHosts,
    onError,
    observe,
  })
}
