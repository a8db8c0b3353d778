import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { OptionValues } from '../option.ts'
import { commandPath } from '../own-package.ts'
import { devVariable, freePortVariable } from '../settings.ts'
import type { Ready } from '../summary.ts'
import { Worker, type WorkerExit, workerArguments } from '../workers/worker.ts'
import type { DevOutput } from './dev-output.ts'
import type { SourceWatch } from './source-watch.ts'

/** Shorter than the limit of the service: a hanging request must not delay the restart. */
const stopTimeoutMs = 3_000

/**
 * Keeps one worker serving the current sources. A new worker loads the configuration while the old one serves; the old
 * one is stopped only when the configuration is valid. An invalid configuration therefore causes a message and no outage.
 */
export class DevServer {
  readonly #options: OptionValues
  readonly #watch: SourceWatch
  readonly #output: DevOutput
  readonly #workers = new Set<Worker>()
  #serving: Worker | undefined
  #ready: Ready | undefined

  constructor(options: OptionValues, watch: SourceWatch, output: DevOutput) {
    this.#options = options
    this.#watch = watch
    this.#output = output
  }

  /** Resolves after `stopped` has resolved. */
  async run(stopped: Promise<unknown>): Promise<void> {
    const stop = stopped.then(() => 'stop' as const)
    for (let changed: readonly string[] = []; ; changed = this.#watch.take()) {
      if ((await this.#runWorker(changed, stop)) === 'stop') return
      if ((await this.#waitForEvent(stop)) === 'stop') return
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.stop(stopTimeoutMs)))
  }

  /** Starts a worker and waits until it serves, has failed, or the sources have changed again. */
  async #runWorker(changed: readonly string[], stop: Promise<'stop'>): Promise<'stop' | 'settled'> {
    const startedAt = performance.now()
    const worker = this.#start()
    const interrupted = Promise.race([stop, this.#watch.next.then(() => 'changed' as const)])
    for (;;) {
      const message = await Promise.race([worker.next(), interrupted])
      if (message === 'stop' || message === 'changed') {
        await this.#end(worker)
        return message === 'stop' ? message : 'settled'
      }
      switch (message.kind) {
        case 'loaded':
          this.#watch.follow(message.files, message.publicFolder)
          if (this.#serving) await this.#end(this.#serving)
          worker.start()
          break
        case 'progress':
          this.#output.progress(message.done, message.total)
          break
        case 'ready':
          this.#serving = worker
          this.#output.serving(message.ready, this.#ready, changed, performance.now() - startedAt)
          this.#ready = message.ready
          return 'settled'
        case 'failed':
          this.#watch.followBroken(message.files)
          this.#output.broken(message.report, changed, this.#serving && this.#ready)
          await this.#end(worker)
          return 'settled'
        case 'exited':
          this.#output.exited(message)
          await this.#end(worker)
          return 'settled'
      }
    }
  }

  /** Resolves with the next stop or change. An exit of the worker is reported meanwhile. */
  async #waitForEvent(stop: Promise<'stop'>): Promise<'stop' | 'changed'> {
    const changed = this.#watch.next.then(() => 'changed' as const)
    const serving = this.#serving
    if (!serving) return Promise.race([stop, changed])
    const event = await Promise.race([stop, changed, serving.exited])
    if (event === 'stop' || event === 'changed') return event
    return this.#waitAfterExit(serving, event, stop)
  }

  /** A worker that exited unexpectedly is not restarted before a change: it would probably exit again. */
  async #waitAfterExit(worker: Worker, exit: WorkerExit, stop: Promise<'stop'>): Promise<'stop' | 'changed'> {
    this.#output.exited(exit)
    await this.#end(worker)
    return this.#waitForEvent(stop)
  }

  #start(): Worker {
    const options = workerArguments(this.#options)
    const worker = new Worker(
      fork(fileURLToPath(commandPath), options, {
        env: { ...process.env, [devVariable]: '1', [freePortVariable]: this.#ready && String(this.#ready.port) },
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      }),
    )
    this.#workers.add(worker)
    return worker
  }

  async #end(worker: Worker): Promise<void> {
    if (this.#serving === worker) this.#serving = undefined
    await worker.stop(stopTimeoutMs)
    this.#workers.delete(worker)
  }
}
