import cluster from 'node:cluster'
import { fileURLToPath } from 'node:url'
import type { Progress } from '../../service/seed.ts'
import { UsageError } from '../command.ts'
import { Explained } from '../explain.ts'
import type { Given } from '../option.ts'
import { commandPath } from '../own-package.ts'
import type { Ready } from '../summary.ts'
import { type Exited, howItEnded, Worker, workerArguments } from './worker.ts'

/** A worker that served for as long as this has not failed to start. */
const settledMs = 10_000
/** What is wrong may take a while to mend, and trying costs the others. */
const shortestPauseMs = 500
const longestPauseMs = 30_000

export interface FleetListener {
  readonly progress: Progress
  /** A worker ended by itself; another takes its place after the pause. */
  ended(pid: number | undefined, exited: Exited, pauseMs: number): void
  /** It serves in the place of one that ended. */
  replaced(pid: number | undefined): void
  /** It could not. */
  failed(error: unknown): void
}

/** Several processes that serve the same on one port. One that ends is replaced. */
export class Fleet {
  readonly #size: number
  readonly #listener: FleetListener
  readonly #workers = new Set<Worker>()
  #failures = 0
  readonly #pauses = new Set<NodeJS.Timeout>()
  #isStopping = false

  constructor(size: number, given: Given, listener: FleetListener) {
    this.#size = size
    this.#listener = listener
    cluster.setupPrimary({
      exec: fileURLToPath(commandPath),
      args: workerArguments(given),
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
  }

  /** The first makes the database ready and fills it; the others come when there is nothing left to do. */
  async start(): Promise<Ready> {
    const { ready } = await this.#launch()
    await Promise.all(Array.from({ length: this.#size - 1 }, () => this.#launch()))
    return ready
  }

  /** Resolves when all have finished what they had begun. */
  async stop(): Promise<void> {
    this.#isStopping = true
    for (const pause of this.#pauses) clearTimeout(pause)
    await Promise.all([...this.#workers].map((worker) => worker.stop()))
  }

  /** One more worker. Rejects when it does not come to serve. */
  async #launch(): Promise<{ readonly worker: Worker; readonly ready: Ready }> {
    const worker = new Worker(cluster.fork().process)
    this.#workers.add(worker)
    try {
      const ready = await this.#served(worker)
      void this.#watchOver(worker)
      return { worker, ready }
    } catch (error) {
      await worker.stop()
      this.#workers.delete(worker)
      throw error
    }
  }

  async #served(worker: Worker): Promise<Ready> {
    for (;;) {
      const message = await worker.next()
      switch (message.kind) {
        case 'loaded':
          if (message.ownDatabase !== null) throw notShared(message.ownDatabase, this.#size)
          worker.go()
          break
        case 'progress':
          this.#listener.progress(message.done, message.total)
          break
        case 'ready':
          return message.ready
        case 'failed':
          throw new Explained(message.explanation)
        case 'exited':
          throw new Error(`A worker ended with ${howItEnded(message)} before it served`)
      }
    }
  }

  async #watchOver(worker: Worker): Promise<void> {
    const since = performance.now()
    const exited = await worker.exited
    this.#workers.delete(worker)
    if (this.#isStopping) return
    if (performance.now() - since > settledMs) this.#failures = 0
    const pauseMs = this.#nextPauseMs()
    this.#listener.ended(worker.pid, exited, pauseMs)
    this.#replaceIn(pauseMs)
  }

  #replaceIn(pauseMs: number): void {
    const pause = setTimeout(async () => {
      this.#pauses.delete(pause)
      try {
        const { worker } = await this.#launch()
        this.#listener.replaced(worker.pid)
      } catch (error) {
        if (this.#isStopping) return
        this.#listener.failed(error)
        this.#replaceIn(this.#nextPauseMs())
      }
    }, pauseMs)
    this.#pauses.add(pause)
  }

  #nextPauseMs(): number {
    return Math.min(longestPauseMs, shortestPauseMs * 2 ** this.#failures++)
  }
}

const notShared = (database: string, size: number): UsageError =>
  new UsageError(
    `--workers ${size} needs a database that ${size} processes can open, and "${database}" lives in one of them`,
    'A file of SQLite or a server will do.',
  )
