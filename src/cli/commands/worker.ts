import type { AnyConfig } from '../../service/config/config.ts'
import { routesOf } from '../../service/dispatch/model-routes.ts'
import { storeFor } from '../../storage/stores.ts'
import { type Command, type ExitCode, exitCode } from '../command.ts'
import { reportOf } from '../error-report.ts'
import { serve } from '../serve.ts'
import { readSettings } from '../settings.ts'
import { startMessage, type WorkerMessage } from '../workers/messages.ts'

/**
 * A process that serves for a parent: `keelson dev` starts a new one for every version of the sources, because a process
 * loads a module only once; `keelson start --workers` starts several.
 */
export const worker: Command = {
  name: 'worker',
  summary: 'A process of keelson dev or keelson start --workers.',
  isInternal: true,
  options: ['config', 'port', 'host', 'database', 'log', 'json', 'verbose'],
  examples: [],

  async run(options, context): Promise<ExitCode> {
    // A terminal sends these to all of its processes; the parent decides when to stop.
    for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {})
    const stop = Promise.race([terminated(), disconnected()])
    const files = new Set<string>()
    const startedAt = performance.now()
    try {
      const startRequested = nextMessage()
      const settings = await readSettings(options, context, files)
      await routesOf(settings.config)
      // An unsupported database is reported while the previous worker still serves.
      if (settings.config.database !== undefined) storeFor(settings.config.database)
      const entry = await context.load()
      const { config } = settings
      const inMemoryDatabase = inMemoryDatabaseOf(config)
      await send({
        kind: 'loaded',
        files: [...files],
        publicFolder: config.public,
        inMemoryDatabase,
        isSoleWriter: isSoleWriter(config),
      })
      if ((await Promise.race([startRequested, stop])) !== startMessage) return exitCode.ok

      const serving = serve(settings, entry, (done, total) => void send({ kind: 'progress', done, total }), startedAt)
      const stopped = stop.then(() => serving.close())
      const ready = await serving.ready
      if (ready !== 'stopped') await send({ kind: 'ready', ready })
      await stopped
      return exitCode.ok
    } catch (error) {
      const report = reportOf(error)
      await send({ kind: 'failed', report, files: [...files] })
      if (options.verbose && error instanceof Error) context.output.error(error.stack ?? '')
      return report.code
    } finally {
      // An open channel keeps the process alive. It is not closed here, because Node fails for a connection that has arrived on it.
      process.channel?.unref()
    }
  },
}

const inMemoryDatabaseOf = ({ database }: AnyConfig): string | null =>
  database !== undefined && /^memory:|:memory:$/.test(database) ? database : null

/** Whether the configuration allows one process only. It never does on SQLite, where each process detects the writes of others. */
const isSoleWriter = ({ database = '', cache, writers, models }: AnyConfig): boolean =>
  /^postgres(ql)?:/.test(database) &&
  cache !== false &&
  Object.values(models).some((model) => (model.writers ?? writers) === 'self')

/** Resolves when the message was sent, so that the process does not end before. */
const send = (message: WorkerMessage): Promise<void> =>
  new Promise((resolve) => {
    if (process.connected) process.send?.(message, () => resolve())
    else resolve()
  })

const nextMessage = (): Promise<unknown> => new Promise((resolve) => process.once('message', resolve))

/** A service manager signals every process, and so does the parent: a second signal does not end a stop that has begun. */
const terminated = (): Promise<void> => new Promise((resolve) => process.on('SIGTERM', () => resolve()))

/** Resolves when the parent has ended, for whatever reason. */
const disconnected = (): Promise<void> => new Promise((resolve) => process.once('disconnect', () => resolve()))
