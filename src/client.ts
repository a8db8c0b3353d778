import type { ActionsIn, Client, ModelsOf } from './client/client-of.ts'
import { openClient } from './client/create-client.ts'
import type { ClientOptions } from './client/options.ts'

export type { BatchRecords, Client, ModelsOf, Outbox } from './client/client-of.ts'
export type { ClientRecords } from './client/client-records.ts'
export {
  ConflictError,
  ForbiddenError,
  InvalidError,
  NetworkError,
  NotFoundError,
  RequestError,
  UnauthenticatedError,
  UnavailableError,
} from './client/errors.ts'
export type { Live, LiveOptions } from './client/live/live-of.ts'
export type { LiveSnapshot, LiveStatus } from './client/live/live-query.ts'
export type { CallOptions, ClientOptions, WriteOptions } from './client/options.ts'
export type { ConflictingWrite, OutboxOptions, OutboxStorage } from './client/writes/outbox-options.ts'

/**
 * A client of a service, typed by its configuration: `createClient<typeof config>({ url })`. It needs web APIs only and
 * runs in browsers, Node, Deno and Bun.
 */
export const createClient = <C = unknown>(options: ClientOptions = {}): Client<ModelsOf<C>, ActionsIn<C>> =>
  openClient(options) as Client<ModelsOf<C>, ActionsIn<C>>
