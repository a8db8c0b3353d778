import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { None, Registry } from './model/attributes-of.ts'
import type { CheckedModels } from './model/checked-models.ts'
import type { AttributeDefinitions, ModelDefinitions } from './model/definition.ts'
import type { Records } from './model/records-of.ts'
import type { AnyConfig, Config } from './service/config.ts'
import { type OpenService, openService } from './service/open-service.ts'
import { fetchHandler } from './transport/http/fetch.ts'
import { type HttpServer, type ListenOptions, listen } from './transport/http/listen.ts'
import { handler } from './transport/http/serve.ts'
import { type SocketServer, serveSockets } from './transport/socket/serve-sockets.ts'

export type { Registry } from './model/attributes-of.ts'
export { ConfigError } from './model/config-error.ts'
export type {
  AttributeDefinition,
  AttributeDefinitions,
  ModelDefinition,
  ModelDefinitions,
} from './model/definition.ts'
export type { FindOneOptions, FindOptions } from './model/find-options.ts'
export type { Found, Page } from './model/found.ts'
export type { LiveChange, LiveEvent, LiveEvents, LiveOptions, LivePlace } from './model/live-of.ts'
export type { CreateInput, RecordOf, UpdateInput } from './model/record-of.ts'
export type { ModelRecords, Records } from './model/records-of.ts'
export type { Sort } from './model/sort-of.ts'
export type { Where } from './model/where-of.ts'
export type { Change, Position, RecordId } from './protocol/change.ts'
export { type ErrorCode, type InvalidAttributes, ServiceError } from './protocol/errors.ts'
export type { Json, JsonObject } from './protocol/json.ts'
export type { Config, CorsOptions, RouteOptions, SocketOptions } from './service/config.ts'
export type { ChangeBatch, ChangeLog } from './storage/change-log.ts'
export type { Limits } from './support/limits.ts'
export type { HttpServer } from './transport/http/listen.ts'

/** The port when neither the configuration nor the caller says one. */
export const defaultPort = 1337

/** Who asks. No rules can be declared yet, so it makes no difference; the absence of an identity is nobody, not the system. */
export type Requester = Readonly<Record<string, unknown>> | undefined

/** A running service: its records for code in this process, and its handlers for whoever carries requests to it. */
export interface Service<M extends ModelDefinitions = ModelDefinitions, Shared extends AttributeDefinitions = None>
  extends Pick<OpenService, 'handle' | 'models' | 'routes' | 'changes' | 'limits' | 'database'>,
    AsyncDisposable {
  /** Records on behalf of the system itself. */
  readonly system: { readonly records: Records<Registry<M, Shared>> }
  /** Records on behalf of somebody. */
  as(requester: Requester): { readonly records: Records<Registry<M, Shared>> }
  /** For `node:http`, and as the last middleware of a framework. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void
  /**
   * For the event of that name of `node:http`: sockets on a server that is not ours. Takes a connection over that asks
   * for one, to serve or to refuse it, and answers true; false leaves it to whoever else takes upgrades, or turns them
   * down. Closing the service ends these sockets, and a server waits for that when it closes.
   */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean
  /** For runtimes that speak in Request and Response. */
  readonly fetch: (request: Request) => Promise<Response>
  /**
   * Serves over HTTP, and sockets on the same port unless they are turned off; 0 takes any free port. Rejects with the
   * code of the system's error when it cannot.
   */
  listen(port?: number, host?: string): Promise<HttpServer>
  /** Stops what listens, lets writes under way finish, and closes the database. */
  close(): Promise<void>
}

/** A configuration as it is, with the types of its models. A slip of the pen in them is an error where it was made. */
export const defineConfig = <const M extends ModelDefinitions, const Shared extends AttributeDefinitions = None>(
  config: Config<M, Shared> & { readonly models: CheckedModels<M, Shared> },
): Config<M, Shared> => config

/**
 * Opens the database, brings its schema up to date as far as `migrate` allows, and serves. Throws a ConfigError that
 * names everything that is wrong with the configuration.
 */
export async function createService<const M extends ModelDefinitions, const Shared extends AttributeDefinitions = None>(
  config: Config<M, Shared> & { readonly models: CheckedModels<M, Shared> },
): Promise<Service<M, Shared>> {
  const service = await openService(config)
  const { limits } = service
  const options = { report: config.report, cors: config.cors }
  const servers: HttpServer[] = []
  const mounted = openSockets(service, config)
  const records = { records: Object.fromEntries(service.records) as unknown as Records<Registry<M, Shared>> }
  const close = async () => {
    await Promise.all([mounted?.stop(), ...servers.splice(0).map((server) => server.stop())])
    await service[Symbol.asyncDispose]()
  }
  return {
    ...service,
    system: records,
    as: () => records,
    handler: handler(mounted?.overHttp ?? service, limits, options),
    upgrade: (request, socket, head) => mounted?.upgrade(request, socket, head) ?? false,
    fetch: fetchHandler(service, limits, options),
    async listen(port = config.port ?? defaultPort, host = config.host) {
      const server = await serve(service, config, { ...options, limits, port, host })
      servers.push(server)
      return server
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** HTTP, with sockets on the same port if they are wanted; both stop together. */
async function serve(service: OpenService, config: AnyConfig, options: ListenOptions): Promise<HttpServer> {
  const sockets = openSockets(service, config)
  if (!sockets) return listen(service, options)
  const server = await listen(sockets.overHttp, { ...options, upgrade: sockets.upgrade })
  const stop = async () => {
    await Promise.all([sockets.stop(), server.stop()])
  }
  return { ...server, stop, [Symbol.asyncDispose]: stop }
}

/** Sockets for one server, unless they are turned off. */
function openSockets(service: OpenService, config: AnyConfig): SocketServer | undefined {
  if (config.sockets === false) return undefined
  const { cors, report = (error) => console.error(error) } = config
  return serveSockets(service, { ...config.sockets, limits: service.limits, cors, report })
}
