import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'

/** Resources used by a process since its start. */
export interface Usage {
  readonly cpuMs: number
  readonly rssBytes: number
  readonly heapBytes: number
}

/**
 * Runs in the process of a server: sends `ready`, answers requests for its resource usage, and ends on request. Garbage is
 * only collected on demand with `--expose-gc`.
 */
export function reportToParent(close: () => Promise<unknown>): void {
  const stop = (): void => void close().finally(() => process.exit())
  process.on('message', (message) => {
    if (message === 'stop') return stop()
    if (message === 'usage without garbage') globalThis.gc?.()
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed, external } = process.memoryUsage()
    process.send?.({ cpuMs: (user + system) / 1000, rssBytes: rss, heapBytes: heapUsed + external } satisfies Usage)
  })
  process.on('disconnect', stop)
  process.send?.('ready')
}

export interface ChildOptions {
  readonly output?: 'inherit' | 'ignore'
  /** Runs it in its own session, like a program that was started alone: Linux may divide the processors between sessions first. */
  readonly ownSession?: boolean
}

const canPin = spawnSync('taskset', ['-V'], { stdio: 'ignore' }).status === 0

/** A program in its own process, on one CPU if a number is given and the system supports it; it has sent `ready`. */
export class Child implements AsyncDisposable {
  readonly #process: ChildProcess

  private constructor(process: ChildProcess) {
    this.#process = process
  }

  static async start(
    cpu: number | undefined,
    nodeOptions: readonly string[],
    file: string,
    args: readonly string[],
    { output = 'inherit', ownSession = false }: ChildOptions = {},
  ): Promise<Child> {
    const node = [...nodeOptions, file, ...args]
    const [command, words] =
      canPin && cpu !== undefined
        ? ['taskset', ['-c', String(cpu), process.execPath, ...node]]
        : [process.execPath, node]
    const stdio = ['ignore', output, 'inherit', 'ipc'] as const
    const child = new Child(spawn(command, words, { stdio: [...stdio], detached: ownSession }))
    await child.#answer()
    return child
  }

  ask(question: unknown): Promise<unknown> {
    const answer = this.#answer()
    this.#process.send(question as object)
    return answer
  }

  async #answer(): Promise<unknown> {
    const gone = new AbortController()
    const died = once(this.#process, 'exit', { signal: gone.signal }).then(([code]) => {
      throw new Error(`${this.#process.spawnargs.join(' ')} ended with ${code}`)
    })
    died.catch(() => {})
    try {
      const [message] = await Promise.race([once(this.#process, 'message', { signal: gone.signal }), died])
      return message
    } finally {
      gone.abort()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const exit = once(this.#process, 'exit')
    if (this.#process.connected) this.#process.send('stop')
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), 10_000)
    await exit
    clearTimeout(timer)
  }
}
