import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { commandFile } from '../../support/command.ts'

/** A service in a process of its own, which may be stopped, killed and started again. */
export class Server implements AsyncDisposable {
  readonly #database: string
  readonly #config: string
  #child: ChildProcess | undefined
  #url: string | undefined
  /** How often it was started. */
  run = 0

  constructor(database: string, isRuled: boolean) {
    this.#database = database
    this.#config = join(import.meta.dirname, isRuled ? 'ruled.config.ts' : 'keelson.config.ts')
  }

  /** Undefined while it does not serve. */
  get url(): string | undefined {
    return this.#url
  }

  async start(): Promise<void> {
    if (this.#child) return
    const given = ['start', '--config', this.#config, '--port', '0', '--database', this.#database, '--json']
    // Through the channel it learns that we are gone, however that came about.
    const child = spawn(process.execPath, [commandFile, ...given], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
    this.#child = child
    const exit = once(child, 'exit').then(() => {
      this.#child = undefined
      this.#url = undefined
    })
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
      const { event, url, message } = JSON.parse(line) as { event: string; url?: string; message?: string }
      if (event === 'error') throw new Error(`A server did not start: ${message}`)
      if (event !== 'ready') continue
      child.stdout?.resume()
      this.#url = url
      this.run++
      return
    }
    await exit
    throw new Error('A server ended before it served')
  }

  /** Resolves when it has ended; from now on it counts as gone. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child
    if (!child) return
    this.#url = undefined
    const exit = once(child, 'exit')
    child.kill(signal)
    await exit
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end('SIGKILL')
  }
}
