import type { Progress } from '../service/in-process/seed.ts'
import { observersOf } from '../service/observers.ts'
import { pagesIn } from '../service/pages/public-files.ts'
import { DatabaseError } from '../storage/driver.ts'
import { errorText } from '../support/error-text.ts'
import { defaultLimits } from '../support/limits.ts'
import { withoutStack } from '../support/without-stack.ts'
import type { HttpServer } from '../transport/http/listen.ts'
import type { PublicApi, RunningService } from './command-context.ts'
import { assertAccessDeclared, openModels, rolesWithoutAuth } from './declared-access.ts'
import { framesOf } from './import-error.ts'
import { version } from './own-package.ts'
import { SchemaChangedError } from './schema-changed-error.ts'
import type { Settings } from './settings.ts'
import { endProcess } from './stop-signals.ts'
import { type Ready, summarize } from './summary.ts'
import { openWorkerChannel } from './workers/worker-channel.ts'

/** A service that is starting or has started. It can be closed in both states. */
export interface StartingService {
  readonly ready: Promise<Ready | 'stopped'>
  close(): Promise<void>
}

/**
 * Opens the database, seeds it when it is new, and listens. With NODE_ENV=production all models must declare access.
 * An unhandled rejection in the application is reported and does not end the process.
 */
export function serve(settings: Settings, entry: PublicApi, progress: Progress, startedAt: number): StartingService {
  const stopped = Promise.withResolvers<'stopped'>()
  const { onError } = observersOf(settings.config)
  process.on('unhandledRejection', (error) => onError(unhandledRejection(error)))
  const opened = open(settings, entry)
  let closed: Promise<void> | undefined

  async function begin(): Promise<Ready | 'stopped'> {
    const service = await opened
    try {
      const seeded = await service.seed(progress).catch(failedSeed)
      if (closed) return 'stopped'
      const server = await service.listen(undefined, undefined, openWorkerChannel())
      return describe(service, server, settings, seeded, performance.now() - startedAt)
    } catch (error) {
      const changes = summarize(service.database.steps)
      throw changes === '' ? error : new SchemaChangedError(changes, error)
    }
  }

  /** A stop takes no longer than its limit, whatever a client, a statement or a database that is being opened does. */
  async function closeWithin(stopTimeoutMs: number): Promise<void> {
    const deadline = setTimeout(endProcess, stopTimeoutMs, 'SIGTERM').unref()
    // A service that failed to open needs no close.
    const service = await opened.catch(() => undefined)
    await service?.close()
    clearTimeout(deadline)
  }

  function closeService(): Promise<void> {
    closed ??= closeWithin(settings.config.limits?.stopTimeoutMs ?? defaultLimits.stopTimeoutMs)
    return closed
  }

  const begun = begin().catch(async (error: unknown) => {
    await closeService()
    throw error
  })
  return {
    // A seed may take any time. An error after the stop began is a consequence of the stop, so it is not reported.
    ready: Promise.race([begun, stopped.promise]),
    close() {
      stopped.resolve('stopped')
      return closeService()
    },
  }
}

const unhandledRejection = (error: unknown): Error =>
  withoutStack(new Error(`Unhandled promise rejection: ${errorText(error)}`, { cause: error }))

async function open({ config }: Settings, entry: PublicApi): Promise<RunningService> {
  if (process.env.NODE_ENV === 'production') assertAccessDeclared(config)
  return entry.createService(config)
}

function describe(service: RunningService, server: HttpServer, settings: Settings, seeded: boolean, ms: number): Ready {
  const models = [...service.models.values()].filter((model) => !model.isJunction).length
  return {
    name: settings.name,
    version: version(),
    url: server.url,
    host: server.host,
    port: server.port,
    pages: pageUrls(settings.config.public, server.url),
    models,
    routes: service.routes.reduce((sum, { path }) => sum + (path.includes('/:model') ? models : 1), 0),
    database: service.database.description,
    steps: service.database.steps,
    seeded,
    open: openModels(service.models.values(), settings.config),
    limitation: service.changes.limitation,
    warnings: [...service.warnings, ...rolesWithoutAuth(service.models.values(), settings.config)],
    ms: Math.round(ms),
  }
}

/** Errors of the database have reports of their own. */
function failedSeed(error: unknown): never {
  if (!(error instanceof Error) || error instanceof DatabaseError) throw error
  const [frame] = framesOf(error)
  throw new Error(`The seed failed: ${frame === undefined ? '' : `${frame}: `}${error.message}`, { cause: error })
}

const pageUrls = (folder: string | undefined, url: string): readonly string[] =>
  folder === undefined ? [] : pagesIn(folder).map((file) => `${url}/${file}`)
