import type { Progress } from '../service/seed.ts'
import type { HttpServer } from '../transport/http/listen.ts'
import { version } from './own-package.ts'
import type { PublicEntry, RunningService } from './program.ts'
import type { Settings } from './settings.ts'
import type { Ready } from './summary.ts'

/** A service on its way up; `close` may be called at any time, and once it has been nothing more is begun. */
export interface Serving {
  readonly ready: Promise<Ready | 'stopped'>
  close(): Promise<void>
}

/** Opens the database, fills it if it is new, and serves. */
export function serve(settings: Settings, entry: PublicEntry, progress: Progress, startedAt: number): Serving {
  let service: RunningService | undefined
  let isClosing = false
  const { config, name } = settings

  async function begin(): Promise<Ready | 'stopped'> {
    service = await entry.createService(config)
    if (isClosing) return 'stopped'
    const seeded = await service.seed(progress)
    if (isClosing) return 'stopped'
    const server = await service.listen()
    return describe(service, server, name, seeded, performance.now() - startedAt)
  }

  const ready = begin().catch(async (error: unknown) => {
    await service?.close()
    // What breaks because we are stopping is no failure.
    if (isClosing) return 'stopped' as const
    throw error
  })
  return {
    ready,
    async close() {
      isClosing = true
      await service?.close()
      await ready.catch(() => {})
      await service?.close()
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
