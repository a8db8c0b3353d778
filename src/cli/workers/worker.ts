import type { ChildProcess } from 'node:child_process'
import type { Given } from '../option.ts'
import { go, type WorkerMessage } from './messages.ts'

export interface Exited {
  readonly kind: 'exited'
  readonly code: number | null
  readonly signal: string | null
}

/** In words, behind "ended with". */
export const howItEnded = ({ code, signal }: Exited): string => signal ?? `code ${code ?? 'unknown'}`

/** What a worker is called with, so that it reads the configuration as the command that started it was told to. */
export function workerArguments({ config, host, database, port, verbose }: Given): string[] {
  const values = Object.entries({ config, host, database, port }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`],
  )
  return ['worker', ...values, ...(verbose ? ['--verbose'] : [])]
}

/** A process that runs the service once. It ends when we do, however we end: it listens for the end of the channel. */
export class Worker {
  readonly #child: ChildProcess
  readonly #messages: (WorkerMessage | Exited)[] = []
  #waiting: ((message: WorkerMessage | Exited) => void) | undefined
  readonly exited: Promise<Exited>

  /** The child must have been started with a channel. */
  constructor(child: ChildProcess) {
    this.#child = child
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

  get pid(): number | undefined {
    return this.#child.pid
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

  /** Resolves when it has ended; one that takes longer than `patienceMs` is ended. */
  async stop(patienceMs?: number): Promise<void> {
    this.#child.kill('SIGTERM')
    const timer = patienceMs === undefined ? undefined : setTimeout(() => this.#child.kill('SIGKILL'), patienceMs)
    await this.exited
    clearTimeout(timer)
  }
}
