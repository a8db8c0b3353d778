import { EventVisibility } from '../access/event-visibility.ts'
import { policyOf } from '../access/policy.ts'
import { ShadowCheck } from '../access/shadow-check.ts'
import type { DeclaredJobs } from '../jobs/declared-jobs.ts'
import type { Model, Models } from '../model/model.ts'
import { createUuids } from '../model/uuid-v7.ts'
import { CursorSeal } from '../operation/cursor.ts'
import { FindShapes } from '../operation/find-shapes.ts'
import { runsInTransactions } from '../operation/hooks/hooked-store.ts'
import type { OperationServices } from '../operation/operation.ts'
import { VersionHash } from '../operation/version.ts'
import { anonymous, type Requester, system } from '../protocol/requester.ts'
import { Broadcaster } from '../realtime/broadcaster.ts'
import { ChangeFeed } from '../realtime/change-feed.ts'
import { LiveQueries } from '../realtime/queries/live-queries.ts'
import { SocketBroker } from '../realtime/socket/socket-broker.ts'
import type { OpenedStore } from '../storage/opened-store.ts'
import { systemStore } from '../storage/scoped-store.ts'
import type { ReadOptions } from '../storage/store.ts'
import type { Clock } from '../support/clock.ts'
import { KeyedHash } from '../support/keyed-hash.ts'
import type { Limits } from '../support/limits.ts'
import { Lru } from '../support/lru.ts'
import { Semaphore } from '../support/semaphore.ts'
import { WaitingBytes } from '../support/waiting-bytes.ts'
import type { ActionOperations } from './actions/action-operations.ts'
import { serviceActionsOf } from './actions/in-process.ts'
import { identifier } from './auth/identify.ts'
import type { Definitions } from './config/check-config.ts'
import type { AnyConfig } from './config/config.ts'
import { defaultRules, shadowShare } from './config/default-access.ts'
import { answerCacheOf } from './dispatch/answer-cache.ts'
import { authorizationFor } from './dispatch/authorize.ts'
import type { DispatchContext } from './dispatch/context.ts'
import { requestHandler } from './dispatch/handle-request.ts'
import { LargeWrites } from './dispatch/large-writes.ts'
import { ReadPosition } from './dispatch/read-position.ts'
import { allLines, type Routes } from './dispatch/routes.ts'
import { ShapeEndpoint } from './electric/shape-endpoint.ts'
import { foreignKeysByTarget } from './foreign-keys-by-target.ts'
import { IdempotentWrites } from './idempotency/idempotent-writes.ts'
import { createHookServices } from './in-process/hook-services.ts'
import { recordsByModel } from './in-process/records-by-model.ts'
import { seedOnce } from './in-process/seed.ts'
import { runTransaction } from './in-process/transaction.ts'
import { openJobs } from './jobs.ts'
import { currentMembersOf } from './live/current-members.ts'
import { currentRecordsOf } from './live/current-records.ts'
import { Streams } from './live/event-stream.ts'
import { LiveStreams } from './live/live-streams.ts'
import { OperationTokens } from './live/operation-tokens.ts'
import { StreamSlots } from './live/stream-slots.ts'
import { SubscriptionFactory } from './live/subscription-factory.ts'
import type { Observers } from './observers.ts'
import type { OpenService } from './open-service.ts'
import { createLandingPage } from './pages/landing-page.ts'
import { type PublicFiles, pagesIn } from './pages/public-files.ts'
import { parameterNameWarnings } from './parameter-name-warnings.ts'
import { trimRegularly } from './trim-regularly.ts'
import { watchCaptures } from './watch-captures.ts'
import { watchDescriptors } from './watch-descriptors.ts'

/** What a service is made of, besides its configuration. */
export interface ServiceParts {
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

/** The service of checked parts and an open store. */
export async function assembleService(config: AnyConfig, parts: ServiceParts): Promise<OpenService> {
  const { definitions, declared, limits, observers, clock, actions, routes, files, opened } = parts
  const { models, actions: serviceActions, notes: definitionNotes } = definitions
  const { onError, observe } = observers
  const { store, steps, unenforced, warnings: storeWarnings = [], notes, jobs: jobStore } = opened
  const keeps = config.cache !== false
  const services: OperationServices = {
    models,
    limits,
    clock,
    uuid: config.uuid ?? createUuids(clock),
    unknownAttributes: config.unknownAttributes ?? 'refuse',
    referencedBy: foreignKeysByTarget(models),
    unenforced: new Set(unenforced),
    secret: store.secret,
    cursors: new CursorSeal(store.secret),
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
    currentMembers: currentMembersOf(store),
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
    nameOf: (operation) => tokens.tokenOf(operation),
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
    largeWrites: new LargeWrites(limits.writeTimeoutMs),
    store,
    systemStore: systemStore(store),
    unrestricted:
      policy || hasStatementHooks(models)
        ? undefined
        : { requester: anonymous, access: undefined, store: systemStore(store) },
    policy,
    statementHooks: services.hooks && hasStatementHooks(models) ? { hooks: services.hooks, limits } : undefined,
    identify: config.auth && identifier(config.auth, { now: () => clock.now(), limits, onError, observe }),
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
  let jobsStopped: Promise<void> | undefined
  const stopJobs = (timeoutMs: number): Promise<void> => {
    jobsStopped ??= jobs.stop(timeoutMs)
    return jobsStopped
  }
  const periodic = [
    trimRegularly(store, limits, clock, onError),
    watchCaptures(store.changes, clock, onError),
    watchDescriptors(clock, onError),
  ]
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
    warnings: [...definitionNotes, ...parameterNameWarnings(models), ...storeWarnings],
    routes: allLines(routes),
    changes: store.changes,
    limits,
    waiting,
    onError,
    observe,
    database: { description: store.description, steps },
    jobs: jobs.control,
    startJobs: async () => (config.runJobs === false ? undefined : jobs.start()),
    stopJobs,
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
      await stopJobs(limits.stopTimeoutMs)
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
