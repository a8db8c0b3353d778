import { EventVisibility } from '../access/event-visibility.ts'
import { policyOf } from '../access/policy.ts'
import { ShadowCheck } from '../access/shadow-check.ts'
import type { DeclaredJobs } from '../jobs/declared-jobs.ts'
import { type Model, type Models, selfWrittenTables } from '../model/model.ts'
import { createUuids } from '../model/uuid-v7.ts'
import { FindShapes } from '../operation/find-shapes.ts'
import { runsInTransactions } from '../operation/hooks/hooked-store.ts'
import type { OperationServices } from '../operation/operation.ts'
import { VersionHash } from '../operation/version.ts'
import type { ErrorListener } from '../protocol/error-response.ts'
import type { Peer } from '../protocol/event.ts'
import type { Handshake, ServiceRequest, ServiceResponse } from '../protocol/request.ts'
import { anonymous, type Requester, system } from '../protocol/requester.ts'
import { Broadcaster } from '../realtime/broadcaster.ts'
import { ChangeFeed } from '../realtime/change-feed.ts'
import { LiveQueries } from '../realtime/queries/live-queries.ts'
import { SocketBroker } from '../realtime/socket/socket-broker.ts'
import type { ChangeLog } from '../storage/change-log.ts'
import type { OpenedStore } from '../storage/opened-store.ts'
import type { SchemaStep } from '../storage/schema-step.ts'
import { systemStore } from '../storage/scoped-store.ts'
import type { ReadOptions } from '../storage/store.ts'
import { openStore } from '../storage/stores.ts'
import { type Clock, systemClock } from '../support/clock.ts'
import { KeyedHash } from '../support/keyed-hash.ts'
import { defaultLimits, type Limits } from '../support/limits.ts'
import { Lru } from '../support/lru.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import type { Observe } from '../support/observation.ts'
import { Semaphore } from '../support/semaphore.ts'
import { WaitingBytes } from '../support/waiting-bytes.ts'
import { ActionOperations } from './actions/action-operations.ts'
import { type LooseActions, serviceActionsOf } from './actions/in-process.ts'
import { identifier } from './auth/identify.ts'
import { type Definitions, definitionsOf } from './config/check-config.ts'
import type { AnyConfig } from './config/config.ts'
import { defaultRules, shadowShare } from './config/default-access.ts'
import { answerCacheOf } from './dispatch/answer-cache.ts'
import { authorizationFor } from './dispatch/authorize.ts'
import type { DispatchContext } from './dispatch/context.ts'
import { requestHandler } from './dispatch/handle-request.ts'
import { ReadPosition } from './dispatch/read-position.ts'
import { allLines, buildRoutes, type RouteLine, type Routes } from './dispatch/routes.ts'
import { ShapeEndpoint } from './electric/shape-endpoint.ts'
import { IdempotentWrites } from './idempotency/idempotent-writes.ts'
import { createHookServices } from './in-process/hook-services.ts'
import type { LooseRecords } from './in-process/records.ts'
import { recordsByModel } from './in-process/records-by-model.ts'
import { type Progress, seedOnce } from './in-process/seed.ts'
import { type LooseTransaction, runTransaction } from './in-process/transaction.ts'
import { type JobControl, openJobs, readJobs } from './jobs.ts'
import { currentRecordsOf } from './live/current-records.ts'
import { Streams } from './live/event-stream.ts'
import { LiveStreams } from './live/live-streams.ts'
import { OperationTokens } from './live/operation-tokens.ts'
import { StreamSlots } from './live/stream-slots.ts'
import { SubscriptionFactory } from './live/subscription-factory.ts'
import { type Observers, observersOf } from './observers.ts'
import { createLandingPage } from './pages/landing-page.ts'
import { openPublicFiles, type PublicFiles, pagesIn } from './pages/public-files.ts'
import { pointersOf } from './pointers-of.ts'
import { trimRegularly } from './trim-regularly.ts'
import { tryComputed } from './try-computed.ts'
import { watchDescriptors } from './watch-descriptors.ts'

/** A service without its transports. */
export interface OpenService extends AsyncDisposable {
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
  readonly models: Models
  /** What the configuration contains and the service does not use, and what a pooler costs, as sentences for the log. */
  readonly warnings: readonly string[]
  readonly routes: readonly RouteLine[]
  readonly changes: ChangeLog
  readonly limits: Limits
  /** The bytes that wait for all clients, whatever the transport. */
  readonly waiting: WaitingBytes
  readonly onError: ErrorListener
  readonly observe: Observe | undefined
  /** Kind, version and location of the database, and the changes made to its schema at start. */
  readonly database: { readonly description: string; readonly steps: readonly SchemaStep[] }
  readonly jobs: JobControl
  /** Runs the jobs in this process from now on, unless the configuration says otherwise. */
  startJobs(): Promise<void>
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
    service = await assemble(config, {
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

interface ServiceParts {
  readonly definitions: Definitions
  readonly declared: DeclaredJobs | undefined
  readonly limits: Limits
  readonly observers: Observers
  readonly clock: Clock
  readonly actions: ActionOperations
  readonly routes: Routes
  readonly files: PublicFiles | undefined
  readonly opened: OpenedStore
}

/** Of checked parts and an open store. */
async function assemble(config: AnyConfig, parts: ServiceParts): Promise<OpenService> {
  const { definitions, declared, limits, observers, clock, actions, routes, files, opened } = parts
  const { models, actions: serviceActions, notes: definitionNotes } = definitions
  const { onError, observe } = observers
  const { store, steps, unenforced, warnings: storeWarnings = [], notes, jobs: jobStore } = opened
  const keeps = config.cache !== false
  const services: OperationServices = {
    models,
    limits,
    maxValueBytes: limits.maxValueBytes,
    clock,
    uuid: config.uuid ?? createUuids(clock),
    unknownAttributes: config.unknownAttributes ?? 'refuse',
    referencedBy: pointersOf(models),
    unenforced: new Set(unenforced),
    secret: store.secret,
    versionHash: new VersionHash(store.isSecretShared ? store.secret : undefined),
    shapes: keeps ? new FindShapes(limits.maxPlans) : undefined,
    hooks: hasHooks(models) ? createHookServices(() => context, onError) : undefined,
  }
  const policy = policyOf(models, defaultRules(config), limits, serviceActions)
  const share = shadowShare(config)
  const shadow = policy && observe && share ? new ShadowCheck(share, store, observe, onError) : undefined
  const feed = new ChangeFeed(store.changes, onError)
  const broadcaster = new Broadcaster({
    feed,
    models,
    order: store.changes,
    currentRecords: currentRecordsOf(store, models),
    maxRecentEvents: limits.maxRecentEvents,
    maxRecentBytes: limits.maxRecentBytes,
    ...(policy && { visibility: new EventVisibility(policy, store, models) }),
    onError,
  })
  const broker = new SocketBroker(broadcaster, limits)
  const reads = new Semaphore(limits.maxCatchUps)
  const waiting = new WaitingBytes(limits.maxWaitingBytes)
  const subscriptions = new SubscriptionFactory({ store, broadcaster, reads, waiting, limits })
  const tokens = new OperationTokens(store.secret, config.auth !== undefined || policy !== undefined)
  const slots = new StreamSlots(limits.maxStreams)
  const queries = new LiveQueries({
    feed,
    order: store.changes,
    maxRuns: limits.maxLiveRuns,
    maxRows: limits.maxLiveRows,
  })
  const liveStreams = new LiveStreams({
    queries,
    log: store.changes,
    reads,
    models,
    services,
    tokens,
    waiting,
    slots,
    onError,
  })
  const pages = config.public === undefined ? [] : pagesIn(config.public)
  const landingPage = config.landingPage === false ? undefined : createLandingPage(routes, pages)
  const served = servedModels(models)
  const recordsFor = (requester: Requester, client?: ReadOptions) =>
    recordsByModel(context, { authorization: () => authorizationFor(context, requester), client })
  const shapes =
    config.shapes === undefined
      ? undefined
      : new ShapeEndpoint({
          models: new Map(served.map((model) => [model.name, model])),
          recordsFor,
          limits,
          head: () => store.changes.head(),
          slots,
          clock,
          secret: services.secret,
        })
  const context: DispatchContext = {
    routes,
    idempotency: new IdempotentWrites(store.answers, () => clock.now()),
    store,
    systemStore: systemStore(store),
    unrestricted:
      policy || hasStatementHooks(models)
        ? undefined
        : { requester: anonymous, access: undefined, store: systemStore(store) },
    policy,
    statementHooks: services.hooks && hasStatementHooks(models) ? { hooks: services.hooks, limits } : undefined,
    identify: config.auth && identifier(config.auth, () => clock.now(), onError),
    services,
    actions,
    broker,
    subscriptions,
    streams: new Streams(subscriptions, services, slots),
    liveStreams,
    landingPage,
    shapes,
    files,
    jsonp: config.jsonp ?? true,
    populates: config.populate !== false,
    shadow,
    tokens,
    position: new ReadPosition(store.changes, onError),
    encoding: {
      maxBytes: limits.maxAnswerBytes,
      hashes: { list: new KeyedHash(store.secret), record: services.versionHash },
    },
    onError,
    answers: keeps && !shadow ? answerCacheOf(store, models, limits) : undefined,
    plans: keeps ? new Lru(limits.maxPlans) : undefined,
  }
  actions.context = context
  const records = recordsFor(system)
  const jobs = await openJobs(declared, {
    models,
    log: store.changes,
    store: jobStore,
    clock,
    limits,
    system: { records: Object.fromEntries(records) },
    observe,
    onError,
  })
  const periodic = [trimRegularly(store, limits, clock, onError), watchDescriptors(clock, onError)]
  return {
    handle: requestHandler(context),
    identify: (handshake) => context.identify?.(handshake) ?? anonymous,
    connect: (peer) => broker.connect(peer, peer.requester),
    feed,
    records,
    recordsFor,
    endWaiting: () => shapes?.stop(),
    actionsFor: (requester) => serviceActionsOf(context, requester),
    transaction: (requester, work) => runTransaction(context, requester, work),
    hasRules: policy !== undefined,
    models,
    warnings: [...definitionNotes, ...storeWarnings],
    routes: allLines(routes),
    changes: store.changes,
    limits,
    waiting,
    onError,
    observe,
    database: { description: store.description, steps },
    jobs: jobs.control,
    startJobs: async () => (config.runJobs === false ? undefined : jobs.start()),
    nameWorker(id) {
      liveStreams.worker = id
    },
    async seed(progress = () => {}) {
      // With migrate 'safe' there is no table that records whether the seed was applied.
      if (!config.seed || config.migrate === 'safe') return false
      const seeding = { system: { records: Object.fromEntries(records) } } as never
      const run = async () => config.seed?.(seeding, progress)
      return seedOnce(run, { store, notes, models: served, isNew: config.migrate === 'drop' })
    },
    async [Symbol.asyncDispose]() {
      for (const work of periodic) work[Symbol.dispose]()
      await jobs.stop(limits.stopTimeoutMs)
      subscriptions.stop()
      liveStreams.stop()
      feed.close()
      context.position.stop()
      await shadow?.[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  }
}

const hasHooks = (models: Models): boolean => [...models.values()].some(({ hooks }) => hooks !== undefined)
const hasStatementHooks = (models: Models): boolean => [...models.values()].some(runsInTransactions)

const servedModels = (models: Models): readonly Model[] => [...models.values()].filter((model) => !model.isJunction)
