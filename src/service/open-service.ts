import type { Model, Models } from '../model/model.ts'
import { createUuids } from '../model/uuid-v7.ts'
import type { Context, Pointer } from '../operation/operation.ts'
import type { Peer } from '../protocol/event.ts'
import type { ServiceRequest, ServiceResponse } from '../protocol/request.ts'
import { Audience } from '../realtime/audience.ts'
import { Feed } from '../realtime/feed.ts'
import { Hub } from '../realtime/hub.ts'
import type { ChangeLog } from '../storage/change-log.ts'
import type { Store } from '../storage/store.ts'
import { openStore } from '../storage/stores.ts'
import { systemClock } from '../support/clock.ts'
import { defaultLimits, type Limits } from '../support/limits.ts'
import { Lru } from '../support/lru.ts'
import type { Maybe } from '../support/maybe.ts'
import { modelsOf } from './check-config.ts'
import type { AnyConfig } from './config.ts'
import { handle, keptPlans, type Pipeline } from './handle.ts'
import { Lives } from './lives.ts'
import { openPublicFiles } from './public-files.ts'
import { type LooseRecords, recordsOf } from './records.ts'
import { buildRoutes, type RouteLine } from './routes.ts'
import { type Progress, seedOnce } from './seed.ts'
import { Streams } from './stream.ts'
import { welcomePage } from './welcome.ts'

/** A service without its transports. */
export interface OpenService extends AsyncDisposable {
  handle(request: ServiceRequest): Maybe<ServiceResponse>
  /** From now on the peer may be named in requests, and hears what they make it follow; disposing of it ends that. */
  connect(peer: Peer): Disposable
  /** Everything that happens, for those who listen to more than a peer does. */
  readonly feed: Feed
  /** Records by model, on behalf of the system itself. */
  readonly records: ReadonlyMap<string, LooseRecords>
  readonly models: Models
  readonly routes: readonly RouteLine[]
  readonly changes: ChangeLog
  readonly limits: Limits
  /** What the database is, and what was done to it at start, for people. */
  readonly database: { readonly description: string; readonly steps: readonly string[] }
  /** Runs the configuration's seed if it is still owed; resolves with whether it ran. To be called before serving. */
  seed(progress?: Progress): Promise<boolean>
}

/** How often the log of changes is looked through for what may go. */
const trimEveryMs = 60_000

/** Throws a ConfigError with all that is wrong; rejects when the database cannot be opened. */
export async function openService(config: AnyConfig): Promise<OpenService> {
  const models = modelsOf(config)
  const limits: Limits = { ...defaultLimits, ...config.limits }
  const report = config.report ?? ((error: unknown) => console.error(error))
  const routes = await buildRoutes(models, config)
  const files = config.public === undefined ? undefined : await openPublicFiles(config.public)
  const { store, steps, unenforced, notes } = await openStore({
    url: config.database ?? 'sqlite:data/app.db',
    models,
    migrate: config.migrate ?? 'add',
    limits,
    report,
  })
  const clock = config.clock ?? systemClock
  const context: Context = {
    models,
    limits,
    maxValueBytes: limits.maxValueBytes,
    clock,
    uuid: config.uuid ?? createUuids(clock),
    unknownAttributes: config.unknownAttributes ?? 'refuse',
    pointingTo: pointersOf(models),
    unenforced: new Set(unenforced),
    secret: store.secret,
  }
  const feed = new Feed(store.changes, models, report)
  const hub = new Hub({
    feed,
    covers: (position, change) => store.changes.covers(position, change),
    maxSubscriptions: limits.maxSubscriptions,
  })
  const lives = new Lives(store, new Audience(feed))
  const welcome = config.welcome === false ? undefined : welcomePage(routes)
  const pipeline: Pipeline = {
    routes,
    store,
    context,
    hub,
    lives,
    streams: new Streams(lives, context),
    welcome,
    files,
    jsonp: config.jsonp !== false,
    populates: config.populate !== false,
    trusts: (origin) =>
      config.cors !== undefined && (config.cors.origins === '*' || config.cors.origins.includes(origin)),
    report,
    plans: new Lru(keptPlans),
  }
  const trimming = trimRegularly(store, limits, report)
  const served = servedModels(models)
  const records = new Map(served.map((model) => [model.name, recordsOf(pipeline, model)]))
  return {
    handle: (request) => handle(pipeline, request),
    connect: (peer) => hub.connect(peer),
    feed,
    records,
    models,
    routes: routes.list,
    changes: store.changes,
    limits,
    database: { description: store.description, steps },
    async seed(progress = () => {}) {
      // Where nothing may be touched, there is nobody to remember whether it was done.
      if (!config.seed || config.migrate === 'safe') return false
      const seeding = { system: { records: Object.fromEntries(records) } } as never
      const run = async () => config.seed?.(seeding, progress)
      return seedOnce(run, { store, notes, models: served, isNew: config.migrate === 'drop' })
    },
    async [Symbol.asyncDispose]() {
      clearInterval(trimming)
      lives.stop()
      feed.close()
      await store[Symbol.asyncDispose]()
    },
  }
}

const servedModels = (models: Models): readonly Model[] => [...models.values()].filter((model) => !model.isJunction)

function pointersOf(models: Models): ReadonlyMap<Model, readonly Pointer[]> {
  const pointers = [...models.values()].flatMap((model) =>
    [...model.attributes.values()]
      .filter(({ references }) => references)
      .map((attribute): Pointer => ({ model, attribute })),
  )
  return Map.groupBy(pointers, ({ attribute }) => attribute.references as Model)
}

function trimRegularly(store: Store, limits: Limits, report: (error: unknown) => void): NodeJS.Timeout {
  const trim = () => store.changes.trim({ ageMs: limits.logKeepMs, rows: limits.logKeepRows }).catch(report)
  return setInterval(trim, trimEveryMs).unref()
}
