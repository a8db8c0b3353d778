import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Given } from '../option.ts'
import { commandPath } from '../own-package.ts'
import type { Ready } from '../summary.ts'
import { type Exited, Worker, workerArguments } from '../workers/worker.ts'
import type { DevScreen } from './dev-screen.ts'
import type { SourceWatch } from './source-watch.ts'

/** Somebody who waits for the next save does not want to wait for a request that hangs. */
const patienceMs = 3_000

/**
 * Keeps one worker serving what the sources say. A new worker reads the configuration while the old one serves; only
 * when it is sound does the old one go. So a configuration that is broken costs a message, and nothing else.
 */
export class Supervisor {
  readonly #given: Given
  readonly #env: Readonly<Record<string, string | undefined>>
  readonly #watch: SourceWatch
  readonly #screen: DevScreen
  readonly #workers = new Set<Worker>()
  #serving: Worker | undefined
  #ready: Ready | undefined

  constructor(given: Given, env: Readonly<Record<string, string | undefined>>, watch: SourceWatch, screen: DevScreen) {
    this.#given = given
    this.#env = env
    this.#watch = watch
    this.#screen = screen
  }

  /** Resolves some time after `stopped` has. */
  async run(stopped: Promise<unknown>): Promise<void> {
    const stop = stopped.then(() => 'stop' as const)
    for (let changed: readonly string[] = []; ; changed = this.#watch.take()) {
      if ((await this.#attempt(changed, stop)) === 'stop') return
      if ((await this.#idle(stop)) === 'stop') return
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.stop(patienceMs)))
  }

  /** One worker, until it serves, has failed, or the sources have changed again. */
  async #attempt(changed: readonly string[], stop: Promise<'stop'>): Promise<'stop' | 'settled'> {
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
          this.#watch.follow(message.files, false)
          if (this.#serving) await this.#end(this.#serving)
          worker.go()
          break
        case 'progress':
          this.#screen.progress(message.done, message.total)
          break
        case 'ready':
          this.#serving = worker
          this.#screen.serving(message.ready, this.#ready, changed, performance.now() - startedAt)
          this.#ready = message.ready
          return 'settled'
        case 'failed':
          this.#watch.follow(message.files, true)
          this.#screen.broken(message.explanation, changed, this.#serving && this.#ready)
          await this.#end(worker)
          return 'settled'
        case 'exited':
          this.#screen.ended(message)
          await this.#end(worker)
          return 'settled'
      }
    }
  }

  /** Until there is something to do. */
  async #idle(stop: Promise<'stop'>): Promise<'stop' | 'changed'> {
    const changed = this.#watch.next.then(() => 'changed' as const)
    const serving = this.#serving
    if (!serving) return Promise.race([stop, changed])
    const event = await Promise.race([stop, changed, serving.exited])
    if (event === 'stop' || event === 'changed') return event
    return this.#mourn(serving, event, stop)
  }

  /** It ended by itself. The same again would end the same way, so the next save is waited for. */
  async #mourn(worker: Worker, exited: Exited, stop: Promise<'stop'>): Promise<'stop' | 'changed'> {
    this.#screen.ended(exited)
    await this.#end(worker)
    return this.#idle(stop)
  }

  #start(): Worker {
    const given = workerArguments({ ...this.#given, port: this.#port() })
    const worker = new Worker(
      fork(fileURLToPath(commandPath), given, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
    )
    this.#workers.add(worker)
    return worker
  }

  async #end(worker: Worker): Promise<void> {
    if (this.#serving === worker) this.#serving = undefined
    await worker.stop(patienceMs)
    this.#workers.delete(worker)
  }

  /** Any free port is chosen once: a browser that looks at it should find it again. */
  #port(): string | undefined {
    const port = this.#given.port ?? this.#env.PORT
    return Number(port) === 0 && this.#ready ? String(this.#ready.port) : this.#given.port
  }
}
