import type { Progress } from '../service/seed.ts'
import type { HttpServer } from '../transport/http/listen.ts'
import { version } from './own-package.ts'
import type { PublicEntry, RunningService } from './program.ts'
import type { Settings } from './settings.ts'
import type { Ready } from './summary.ts'

/** A service on its way up, which may be told to stop before it is there. */
export interface Serving {
  readonly ready: Promise<Ready | 'stopped'>
  close(): Promise<void>
}

/** Opens the database, fills it if it is new, and serves. */
export function serve(settings: Settings, entry: PublicEntry, progress: Progress, startedAt: number): Serving {
  const stopped = Promise.withResolvers<'stopped'>()
  const opened = entry.createService(settings.config)
  let closed: Promise<void> | undefined

  async function begin(): Promise<Ready | 'stopped'> {
    const service = await opened
    const seeded = await service.seed(progress)
    if (closed) return 'stopped'
    const server = await service.listen()
    return describe(service, server, settings.name, seeded, performance.now() - startedAt)
  }

  function closeService(): Promise<void> {
    closed ??= opened.then(
      (service) => service.close(),
      () => {},
    ) // what was not opened need not be closed
    return closed
  }

  const begun = begin().catch(async (error: unknown) => {
    await closeService()
    throw error
  })
  return {
    // A seed may wait for whatever it likes; what breaks because we stop is no failure.
    ready: Promise.race([begun, stopped.promise]),
    close() {
      stopped.resolve('stopped')
      return closeService()
    },
  }
}

function describe(service: RunningService, server: HttpServer, name: string, seeded: boolean, ms: number): Ready {
  const models = [...service.models.values()].filter((model) => !model.isJunction).length
  return {
    name,
    version: version(),
    url: server.url,
    host: server.host,
    port: server.port,
    models,
    routes: models * service.routes.length,
    database: service.database.description,
    steps: service.database.steps,
    seeded,
    caveat: service.changes.caveat,
    ms: Math.round(ms),
  }
}
