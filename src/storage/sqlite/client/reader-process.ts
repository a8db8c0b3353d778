import { type ChildProcess, fork } from 'node:child_process'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { programUrl } from '../../../support/package-files.ts'
import type { ByteBudget } from '../../byte-budget.ts'
import { DatabaseError, type Row } from '../../driver.ts'
import type { ReadOptions } from '../../store.ts'
import { sqliteError } from '../errors.ts'

export interface ReaderRequest {
  readonly text: string
  readonly values: readonly unknown[]
  /** The bytes that the rows may have. */
  readonly maxBytes?: number | undefined
}

interface Failure {
  readonly message: string
  readonly errcode?: number | undefined
  readonly code?: string | undefined
}

/** The first message of a process says that it is ready; each further one answers a request. */
export type ReaderAnswer =
  | 'ready'
  | { readonly rows: readonly Row[]; readonly bytes: number }
  /** The rows have more bytes than they may have. */
  | 'large'
  | { readonly failure: Failure }

const program = fileURLToPath(programUrl('storage/sqlite/client/reader-main'))

/** The `nice` value of reader processes: where processors are few, scans get what the event loop leaves. */
const readerPriority = 10

interface Pending {
  readonly budget: ByteBudget | undefined
  readonly resolve: (rows: readonly Row[]) => void
  readonly reject: (error: unknown) => void
}

/**
 * One reader process, which runs one statement at a time. A process, because SQLite statements cannot be interrupted in
 * Node: a thread that runs one cannot be ended, a process can be killed.
 */
export class ReaderProcess {
  readonly #child: ChildProcess
  readonly #timeoutMs: number
  readonly #ready = Promise.withResolvers<void>()
  #pending: Pending | undefined
  #failure: DatabaseError | undefined

  constructor(path: string, timeoutMs: number) {
    this.#timeoutMs = timeoutMs
    const child = fork(program, [path, String(timeoutMs)], {
      serialization: 'advanced',
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    this.#child = child
    if (child.pid !== undefined) lowerPriority(child.pid)
    this.#ready.promise.catch(() => {}) // a process may end before it is used
    child.on('message', (answer: ReaderAnswer) => this.#settle(answer))
    child.on('error', (error) => this.kill(new DatabaseError({ kind: 'lost' }, error)))
    child.on('exit', () => this.kill(new DatabaseError({ kind: 'lost' }, 'A reader process has ended')))
  }

  get isUsable(): boolean {
    return this.#failure === undefined
  }

  /** The time limit counts from the start of the statement; past it, or when the signal aborts, the process is killed. */
  async run(text: string, values: readonly unknown[], { signal, budget }: ReadOptions = {}): Promise<readonly Row[]> {
    this.#setActive(true)
    const aborted = () => this.kill(abortedRead())
    signal?.addEventListener('abort', aborted)
    let timer: NodeJS.Timeout | undefined
    try {
      await this.#ready.promise
      timer = setTimeout(() => this.#timeOut(), this.#timeoutMs)
      return await this.#request({ text, values, maxBytes: budget?.left }, budget)
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', aborted)
      this.#pending = undefined
      this.#setActive(false)
    }
  }

  #request(request: ReaderRequest, budget: ByteBudget | undefined): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure)
      this.#pending = { budget, resolve, reject }
      this.#child.send(request)
    })
  }

  #settle(answer: ReaderAnswer): void {
    const pending = this.#pending
    if (answer === 'ready') this.#ready.resolve()
    else if (answer === 'large') pending?.reject(pending.budget?.exceeded)
    else if ('rows' in answer) {
      pending?.budget?.take(answer.bytes)
      pending?.resolve(answer.rows)
    } else this.#pending?.reject(sqliteError(Object.assign(new Error(answer.failure.message), answer.failure)))
  }

  #timeOut(): void {
    this.kill(new DatabaseError({ kind: 'timeout' }, `No answer within ${this.#timeoutMs} ms`))
  }

  kill(reason = new DatabaseError({ kind: 'lost' }, 'The database is closed')): void {
    if (this.#failure) return
    this.#failure = reason
    this.#child.kill('SIGKILL')
    this.#ready.reject(reason)
    this.#pending?.reject(reason)
  }

  /** An idle reader does not keep the process of the service alive. */
  #setActive(isActive: boolean): void {
    if (isActive) {
      this.#child.ref()
      this.#child.channel?.ref()
    } else {
      this.#child.unref()
      this.#child.channel?.unref()
    }
  }
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, readerPriority)
  } catch {
    // not permitted, or it has ended: scans are then scheduled as the service is
  }
}

export const abortedRead = (): DatabaseError => new DatabaseError({ kind: 'aborted' }, 'The read was aborted')
