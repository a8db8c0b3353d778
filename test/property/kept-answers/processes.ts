import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Told, User } from './models.ts'
import type { Task } from './other-process.ts'
import type { Write } from './writes.ts'

const file = join(import.meta.dirname, 'other-process.ts')

/** Another service, or another program, on the same file: a process that does one thing after another. */
export class OtherProcess implements AsyncDisposable {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(path: string, kind: 'service' | 'sql'): Promise<OtherProcess> {
    const started = new OtherProcess(fork(file, [path, kind]))
    await started.#answer()
    return started
  }

  write(write: Write): Promise<unknown> {
    return this.#perform({ do: 'write', write })
  }

  writeOn(count: number, seed: number): Promise<unknown> {
    return this.#perform({ do: 'write on', count, seed })
  }

  tell(question: string, user: User): Promise<Told> {
    return this.#perform({ do: 'tell', question, user }) as Promise<Told>
  }

  #perform(task: Task): Promise<unknown> {
    this.#child.send(task)
    return this.#answer()
  }

  async #answer(): Promise<unknown> {
    const settled = new AbortController()
    const { signal } = settled
    const ended = once(this.#child, 'exit', { signal }).then(() => [{ error: 'the process has ended' }])
    ended.catch(() => {})
    const [{ result, error }] = (await Promise.race([once(this.#child, 'message'), ended])) as [
      { result?: unknown; error?: string },
    ]
    settled.abort()
    if (error !== undefined) throw new Error(error)
    return result
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}
