import cluster from 'node:cluster'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Progress } from '../../service/in-process/seed.ts'
import { UsageError } from '../command.ts'
import { WorkerError } from '../error-report.ts'
import type { OptionValues } from '../option.ts'
import { commandPath } from '../own-package.ts'
import type { Ready } from '../summary.ts'
import type { ConnectionMessage } from './messages.ts'
import { closeUndeliveredConnections } from './undelivered-connections.ts'
import { exitReason, Worker, type WorkerExit, workerArguments } from './worker.ts'

/** A worker that has served this long counts as started successfully: the restart delay begins again. */
const stableAfterMs = 10_000
/** Restarts are delayed exponentially, because a failing start costs the other workers time. */
const minRestartDelayMs = 500
const maxRestartDelayMs = 30_000

export interface PoolListener {
  readonly progress: Progress
  /** A worker exited unexpectedly; another one is started after the delay. */
  exited(pid: number | undefined, exit: WorkerExit, delayMs: number): void
  /** The replacement serves. */
  replaced(pid: number | undefined): void
  /** The replacement could not be started; another attempt follows. */
  failed(error: unknown): void
}

/** Several processes that share one port. A process that exits is replaced. */
export class WorkerPool {
  readonly #size: number
  readonly #listener: PoolListener
  /** By the id of `node:cluster`. */
  readonly #workers = new Map<string, Worker>()
  /** One that starts waits for the message to do so, and reads no connections. */
  readonly #listening = new WeakSet<Worker>()
  #failures = 0
  readonly #restarts = new Set<NodeJS.Timeout>()
  #isStopping = false

  constructor(size: number, options: OptionValues, listener: PoolListener) {
    this.#size = size
    this.#listener = listener
    cluster.setupPrimary({
      exec: fileURLToPath(commandPath),
      args: workerArguments(options),
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
  }

  /** The first worker creates the schema and seeds the database; the others start afterwards. */
  async start(): Promise<Ready> {
    const { ready } = await this.#launch()
    await Promise.all(Array.from({ length: this.#size - 1 }, () => this.#launch()))
    return ready
  }

  /** Resolves when all workers have completed their open requests and exited. */
  async stop(): Promise<void> {
    this.#isStopping = true
    for (const restart of this.#restarts) clearTimeout(restart)
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop()))
  }

  /** Starts a worker. Rejects when it does not become ready. */
  async #launch(): Promise<{ readonly worker: Worker; readonly ready: Ready }> {
    const forked = cluster.fork()
    const { id, process } = forked
    // It repeats the errors of its process, such as that of a reply to one that has just ended; without a listener they end this one.
    forked.on('error', () => {})
    closeUndeliveredConnections(process)
    const worker = new Worker(process, (message, connection) => this.#route(message, connection))
    forked.once('listening', () => this.#listening.add(worker))
    this.#workers.set(String(id), worker)
    try {
      const ready = await this.#becomeReady(worker)
      void this.#replaceOnExit(String(id), worker)
      return { worker, ready }
    } catch (error) {
      await worker.stop()
      this.#workers.delete(String(id))
      throw error
    }
  }

  /**
   * Passes a connection to its worker. If that has ended, the connection is closed, and its client connects again. So it is if that starts:
   * clients name the sessions of workers before a restart, whose ids were the same.
   */
  #route(message: ConnectionMessage, connection: Socket): void {
    const worker = this.#workers.get(message.to)
    if (worker && this.#listening.has(worker)) worker.sendConnection(message, connection)
    else connection.destroy()
  }

  async #becomeReady(worker: Worker): Promise<Ready> {
    for (;;) {
      const message = await worker.next()
      switch (message.kind) {
        case 'loaded':
          if (message.inMemoryDatabase !== null) throw notShared(message.inMemoryDatabase, this.#size)
          if (message.isSoleWriter) throw notAlone(this.#size)
          worker.start()
          break
        case 'progress':
          this.#listener.progress(message.done, message.total)
          break
        case 'ready':
          return message.ready
        case 'failed':
          throw new WorkerError(message.report)
        case 'exited':
          throw new Error(`A worker exited with ${exitReason(message)} before it was ready`)
      }
    }
  }

  async #replaceOnExit(id: string, worker: Worker): Promise<void> {
    const since = performance.now()
    const exit = await worker.exited
    this.#workers.delete(id)
    if (this.#isStopping) return
    if (performance.now() - since > stableAfterMs) this.#failures = 0
    const delayMs = this.#nextDelayMs()
    this.#listener.exited(worker.pid, exit, delayMs)
    this.#replaceAfter(delayMs)
  }

  #replaceAfter(delayMs: number): void {
    const restart = setTimeout(async () => {
      this.#restarts.delete(restart)
      try {
        const { worker } = await this.#launch()
        this.#listener.replaced(worker.pid)
      } catch (error) {
        if (this.#isStopping) return
        this.#listener.failed(error)
        this.#replaceAfter(this.#nextDelayMs())
      }
    }, delayMs)
    this.#restarts.add(restart)
  }

  #nextDelayMs(): number {
    return Math.min(maxRestartDelayMs, minRestartDelayMs * 2 ** this.#failures++)
  }
}

const notShared = (database: string, size: number): UsageError =>
  new UsageError(
    `--workers ${size} needs a database that several processes can open; "${database}" exists in one process only`,
    'Use a SQLite file or PostgreSQL.',
  )

const notAlone = (size: number): UsageError =>
  new UsageError(
    `--workers ${size} and \`writers: 'self'\` exclude each other: several processes would write the database`,
    'Leave out --workers, or `writers`.',
  )
