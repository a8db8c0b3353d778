import { UsageError } from '../command.ts'
import { reportOf } from '../error-report.ts'
import type { OptionValues } from '../option.ts'
import type { Output } from '../output.ts'
import { progressLine } from '../progress-line.ts'
import type { StartingService } from '../serve.ts'
import { duration, type Ready } from '../summary.ts'
import { exitReason } from './worker.ts'
import { WorkerPool } from './worker-pool.ts'

/** A larger number is more than the cores of any machine, so it is probably a typing mistake. */
const maxWorkers = 128

/** The number of processes; 1 without `--workers`. Throws a UsageError for an invalid number. */
export function workerCount({ workers }: OptionValues): number {
  if (workers === undefined) return 1
  const size = /^\d{1,3}$/.test(workers) ? Number(workers) : 0
  if (size >= 1 && size <= maxWorkers) return size
  throw new UsageError(`--workers must be a number from 1 to ${maxWorkers}, not "${workers}"`)
}

/** Like `serve`, with several processes. Exits and replacements of workers are printed. */
export function serveWithWorkers(
  size: number,
  options: OptionValues,
  output: Output,
  startedAt: number,
): StartingService {
  const { paint } = output
  const stopped = Promise.withResolvers<'stopped'>()
  const pool = new WorkerPool(size, options, {
    progress: progressLine('Seeding', output),
    exited(pid, exit, delayMs) {
      output.event({ event: 'worker-exited', pid: pid ?? null, code: exit.code, signal: exit.signal, delayMs })
      const restart = `a new worker starts in ${duration(delayMs)}`
      output.line(`  ${paint('red', '✗')} Worker ${pid} exited unexpectedly with ${exitReason(exit)}; ${restart}.`)
    },
    replaced(pid) {
      output.event({ event: 'worker-ready', pid: pid ?? null })
      output.line(`  ${paint('green', '✎')} Worker ${pid} replaces it.`)
    },
    failed(error) {
      const { message, problems } = reportOf(error)
      output.event({ event: 'worker-failed', message, problems })
      output.line(`  ${paint('red', '✗')} The new worker failed to start: ${[message, ...problems].join('; ')}`)
    },
  })
  const begun = pool.start().then(
    (ready): Ready => ({ ...ready, workers: size, ms: Math.round(performance.now() - startedAt) }),
    async (error: unknown) => {
      await pool.stop()
      throw error
    },
  )
  return {
    ready: Promise.race([begun, stopped.promise]),
    close() {
      stopped.resolve('stopped')
      return pool.stop()
    },
  }
}
