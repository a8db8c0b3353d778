import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { commandPath } from '../own-package.ts'
import { go, type WorkerMessage } from './messages.ts'

export interface Exited {
  readonly kind: 'exited'
  readonly code: number | null
  readonly signal: string | null
}

/** Somebody who waits for the next save does not want to wait for a request that hangs. */
const patienceMs = 3_000

/** A process that runs the service once. It ends when we do, however we end: it listens for the end of the channel. */
export class Worker {
  readonly #child: ChildProcess
  readonly #messages: (WorkerMessage | Exited)[] = []
  #waiting: ((message: WorkerMessage | Exited) => void) | undefined
  readonly exited: Promise<Exited>

  constructor(args: readonly string[]) {
    this.#child = fork(fileURLToPath(commandPath), ['dev-worker', ...args], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#child.on('message', (message: WorkerMessage) => this.#take(message))
    this.exited = new Promise((resolve) => {
      const end = (code: number | null, signal: string | null) => {
        const exited: Exited = { kind: 'exited', code, signal }
        this.#take(exited)
        resolve(exited)
      }
      this.#child.once('exit', end)
      this.#child.once('error', () => end(null, null))
    })
  }

  #take(message: WorkerMessage | Exited): void {
    if (this.#waiting) this.#waiting(message)
    else this.#messages.push(message)
    this.#waiting = undefined
  }

  /** The next thing it says. Its end is the last. */
  next(): Promise<WorkerMessage | Exited> {
    const message = this.#messages.shift()
    if (message) return Promise.resolve(message)
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }

  /** Lets it open the database and serve. */
  go(): void {
    if (this.#child.connected) this.#child.send(go)
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), patienceMs)
    await this.exited
    clearTimeout(timer)
  }
}
