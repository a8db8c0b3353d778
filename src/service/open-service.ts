import { type Models, selfWrittenTables } from '../model/model.ts'
import type { ErrorListener } from '../protocol/error-response.ts'
import type { Peer } from '../protocol/event.ts'
import type { Handshake, ServiceRequest, ServiceResponse } from '../protocol/request.ts'
import type { Requester } from '../protocol/requester.ts'
import type { ChangeFeed } from '../realtime/change-feed.ts'
import type { ChangeLog } from '../storage/change-log.ts'
import type { SchemaStep } from '../storage/schema-step.ts'
import { openStore } from '../storage/stores.ts'
import { systemClock } from '../support/clock.ts'
import { defaultLimits, type Limits } from '../support/limits.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import type { Observe } from '../support/observation.ts'
import type { WaitingBytes } from '../support/waiting-bytes.ts'
import { ActionOperations } from './actions/action-operations.ts'
import type { LooseActions } from './actions/in-process.ts'
import { assembleService } from './assemble-service.ts'
import { definitionsOf } from './config/check-config.ts'
import type { AnyConfig } from './config/config.ts'
import { buildRoutes, type RouteLine } from './dispatch/routes.ts'
import type { LooseRecords } from './in-process/records.ts'
import type { Progress } from './in-process/seed.ts'
import type { LooseTransaction } from './in-process/transaction.ts'
import { type JobControl, readJobs } from './jobs.ts'
import { observersOf } from './observers.ts'
import { openPublicFiles } from './pages/public-files.ts'
import { tryComputed } from './try-computed.ts'

/** A service without its transports. */
export interface OpenService extends AsyncDisposable {
  /** Answers a request of any transport. An invalid request gets a response with an error; this never throws for one. */
  handle(request: ServiceRequest): MaybePromise<ServiceResponse>
  /** The requester of a socket that is opened. */
  identify(handshake: Handshake): MaybePromise<Requester>
  /** Registers a peer: requests may name it, and it receives the events of its subscriptions. Disposing ends them. */
  connect(peer: Peer): Disposable
  /** All changes, for consumers other than peers. */
  readonly feed: ChangeFeed
  /** Records by model, on behalf of the system itself. */
  readonly records: ReadonlyMap<string, LooseRecords>
  /** Answers the requests that wait for something to happen, before the transports stop. */
  endWaiting(): void
  /** Records by model, on behalf of a requester. */
  recordsFor(requester: Requester): ReadonlyMap<string, LooseRecords>
  /** The actions of the service, on behalf of a requester. */
  actionsFor(requester: Requester): LooseActions
  /** Runs code of the application in one transaction, on behalf of a requester. */
  transaction<T>(requester: Requester, work: (records: LooseTransaction) => T | Promise<T>): Promise<T>
  /** Whether access rules are declared. */
  readonly hasRules: boolean
  /** The models by name. */
  readonly models: Models
  /** What the configuration contains and the service does not use, and what a pooler costs, as sentences for the log. */
  readonly warnings: readonly string[]
  /** All routes. `/:model` in a path stands for each model. */
  readonly routes: readonly RouteLine[]
  /** The change log of the database. */
  readonly changes: ChangeLog
  /** The limits in effect: the defaults and those of the configuration. */
  readonly limits: Limits
  /** The bytes that wait for all clients, whatever the transport. */
  readonly waiting: WaitingBytes
  readonly onError: ErrorListener
  readonly observe: Observe | undefined
  /** Kind, version and location of the database, and the changes made to its schema at start. */
  readonly database: { readonly description: string; readonly steps: readonly SchemaStep[] }
  /** The progress of jobs and their dead letters. */
  readonly jobs: JobControl
  /** Runs the jobs in this process from now on, unless the configuration says otherwise. */
  startJobs(): Promise<void>
  /** Aborts the runs of jobs, and resolves when they have ended, or after this time. Disposing the service does so, too. */
  stopJobs(timeoutMs: number): Promise<void>
  /** To be called before serving, where several worker processes share a port. */
  nameWorker(id: string): void
  /** Runs the configuration's seed if it is still owed; resolves with whether it ran. To be called before serving. */
  seed(progress?: Progress): Promise<boolean>
}

/** Throws a ConfigError with all that is wrong; rejects when the database cannot be opened. */
export async function openService(config: AnyConfig): Promise<OpenService> {
  const { declared, problems } = await readJobs(config)
  const definitions = definitionsOf(config, problems)
  const { models } = definitions
  const keeps = config.cache !== false
  const limits: Limits = { ...defaultLimits, ...config.limits, ...(!keeps && { maxKeptBytes: 0 }) }
  const observers = observersOf(config)
  const clock = config.clock ?? systemClock
  const actions = new ActionOperations(models, definitions.actions)
  const routes = await buildRoutes(models, config, actions)
  const files = config.public === undefined ? undefined : await openPublicFiles(config.public)
  const opened = await openStore({
    url: config.database ?? 'sqlite:data/app.db',
    broker: config.broker,
    models,
    migrate: config.migrate,
    limits,
    ...observers,
    now: () => clock.now(),
    maxStaleMs: typeof config.cache === 'object' ? config.cache.maxStaleMs : undefined,
    selfWritten: keeps ? selfWrittenTables(models, config.writers) : undefined,
  })
  let service: OpenService | undefined
  try {
    await tryComputed(models, opened.store)
    service = await assembleService(config, {
      definitions,
      declared,
      limits,
      observers,
      clock,
      actions,
      routes,
      files,
      opened,
    })
    if (config.runJobs) await service.startJobs()
    return service
  } catch (error) {
    // No caller has what could close it.
    await (service ?? opened.store)[Symbol.asyncDispose]()
    throw error
  }
}
