import { UsageError } from '../command.ts'
import { explain } from '../explain.ts'
import type { Given } from '../option.ts'
import { progressLine } from '../progress-line.ts'
import type { Screen } from '../screen.ts'
import type { Serving } from '../serve.ts'
import { duration, type Ready } from '../summary.ts'
import { Fleet } from './fleet.ts'
import { howItEnded } from './worker.ts'

/** More processes than any machine has cores are a slip of the finger. */
const mostWorkers = 128

/** How many processes are wanted. Throws a UsageError for what is no such number. */
export function workersOf({ workers }: Given): number {
  if (workers === undefined) return 1
  const size = /^\d{1,3}$/.test(workers) ? Number(workers) : 0
  if (size >= 1 && size <= mostWorkers) return size
  throw new UsageError(`--workers must be a number from 1 to ${mostWorkers}, and is "${workers}"`)
}

/** As `serve`, by several processes. What becomes of each is said as it happens. */
export function serveWithWorkers(size: number, given: Given, screen: Screen, startedAt: number): Serving {
  const { paint } = screen
  const stopped = Promise.withResolvers<'stopped'>()
  const fleet = new Fleet(size, given, {
    progress: progressLine('Seeding', screen),
    ended(pid, exited, pauseMs) {
      screen.event({ event: 'worker-ended', pid: pid ?? null, code: exited.code, signal: exited.signal, pauseMs })
      const what = `Worker ${pid} has ended by itself, with ${howItEnded(exited)}; another follows in ${duration(pauseMs)}.`
      screen.line(`  ${paint('red', '✗')} ${what}`)
    },
    replaced(pid) {
      screen.event({ event: 'worker-ready', pid: pid ?? null })
      screen.line(`  ${paint('green', '✎')} Worker ${pid} serves in its place.`)
    },
    failed(error) {
      const { message, problems } = explain(error)
      screen.event({ event: 'worker-failed', message, problems })
      screen.line(`  ${paint('red', '✗')} No worker could take its place: ${[message, ...problems].join('; ')}`)
    },
  })
  const begun = fleet.start().then(
    (ready): Ready => ({ ...ready, workers: size, ms: Math.round(performance.now() - startedAt) }),
    async (error: unknown) => {
      await fleet.stop()
      throw error
    },
  )
  return {
    ready: Promise.race([begun, stopped.promise]),
    close() {
      stopped.resolve('stopped')
      return fleet.stop()
    },
  }
}
