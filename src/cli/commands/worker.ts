import type { AnyConfig } from '../../service/config.ts'
import { routesOf } from '../../service/model-routes.ts'
import { type Command, type ExitCode, exitCode } from '../command.ts'
import { explain } from '../explain.ts'
import { serve } from '../serve.ts'
import { readSettings } from '../settings.ts'
import { stopSignal } from '../stop-signals.ts'
import { go, type WorkerMessage } from '../workers/messages.ts'

/**
 * One run of the service: under `keelson dev` a new process for each, because a module is loaded only once in one, and
 * under `keelson start --workers` one of several.
 */
export const worker: Command = {
  name: 'worker',
  summary: 'One process of keelson dev, or of keelson start --workers.',
  isInternal: true,
  options: ['config', 'port', 'host', 'database', 'verbose'],
  examples: [],

  async run(given, program): Promise<ExitCode> {
    // These reach every process of a terminal, but it is the parent that says when to stop.
    for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {})
    const stop = Promise.race([stopSignal(['SIGTERM']), disconnected()])
    const files = new Set<string>()
    const startedAt = performance.now()
    try {
      const wordGiven = word()
      const settings = await readSettings(given, program, files)
      await routesOf(settings.config)
      const entry = await program.load()
      await tell({ kind: 'loaded', files: [...files], ownDatabase: ownDatabaseOf(settings.config) })
      if ((await Promise.race([wordGiven, stop])) !== go) return exitCode.ok

      const serving = serve(settings, entry, (done, total) => void tell({ kind: 'progress', done, total }), startedAt)
      const stopped = stop.then(() => serving.close())
      const ready = await serving.ready
      if (ready !== 'stopped') await tell({ kind: 'ready', ready })
      await stopped
      return exitCode.ok
    } catch (error) {
      const explanation = explain(error)
      await tell({ kind: 'failed', explanation, files: [...files] })
      if (given.verbose && error instanceof Error) program.screen.complain(error.stack ?? '')
      return explanation.code
    } finally {
      // The channel would keep the process alive.
      if (process.connected) process.disconnect?.()
    }
  },
}

const ownDatabaseOf = ({ database }: AnyConfig): string | null =>
  database !== undefined && /^memory:|:memory:$/.test(database) ? database : null

/** Resolves when it was sent, so that the last word is not cut off. */
const tell = (message: WorkerMessage): Promise<void> =>
  new Promise((resolve) => {
    if (process.connected) process.send?.(message, () => resolve())
    else resolve()
  })

const word = (): Promise<unknown> => new Promise((resolve) => process.once('message', resolve))

/** The parent is gone, however it ended: nobody would ever stop us. */
const disconnected = (): Promise<void> => new Promise((resolve) => process.once('disconnect', () => resolve()))
