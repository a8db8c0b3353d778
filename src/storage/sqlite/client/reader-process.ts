import { type ChildProcess, fork } from 'node:child_process'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { programUrl } from '../../../support/package-files.ts'
import type { ByteBudget } from '../../byte-budget.ts'
import { DatabaseError, type Row, type Statement } from '../../driver.ts'
import type { EncodedPage, Encoding } from '../../encoding.ts'
import type { ReadOptions } from '../../store.ts'
import { abortedRead } from '../../wait-queue.ts'
import { sqliteError } from '../errors.ts'
import { PageTexts } from './page-texts.ts'

export interface ReaderRequest {
  readonly text: string
  readonly values: readonly unknown[]
  /** The bytes that the rows may have. */
  readonly maxBytes?: number | undefined
  /** Absent: the rows are returned as they are. */
  readonly encoding?: Encoding | undefined
  /** The bytes that the encoded page may have. */
  readonly maxAnswerBytes?: number | undefined
}

interface Failure {
  readonly message: string
  readonly errcode?: number | undefined
  readonly code?: string | undefined
}

/** The first message of a process says that it is ready; each further one answers a request. */
export type ReaderMessage = 'ready' | ReaderAnswer

export type ReaderAnswer =
  /** Without the bytes of all rows: the first of them, others follow. */
  | { readonly rows: readonly Row[]; readonly bytes?: number }
  /** The text of the page, of this length, is written to the standard output. */
  | { readonly page: Omit<EncodedPage, 'parts'>; readonly length: number; readonly bytes: number }
  /** The rows, or the text of the page, have more bytes than they may have. */
  | 'large'
  | { readonly failure: Failure }

type RunStatement = Pick<Statement, 'text' | 'values'>

const program = fileURLToPath(programUrl('storage/sqlite/client/reader-main'))

/** The `nice` value of reader processes: where processors are few, scans get what the event loop leaves. */
const readerPriority = 10

/**
 * A statement whose client has disconnected may go on for this long. To kill its process would block the event loop for 5 to 25
 * ms when the next one is started.
 */
const abortedMs = 1_000

interface Pending {
  /** Those that have come already. */
  readonly rows: Row[]
  readonly budget: ByteBudget | undefined
  readonly resolve: (answer: readonly Row[] | EncodedPage) => void
  readonly reject: (error: unknown) => void
}

/**
 * One reader process, which runs one statement at a time. A process, because SQLite statements cannot be interrupted in
 * Node: a thread that runs one cannot be ended, a process can be killed.
 */
export class ReaderProcess {
  readonly #child: ChildProcess
  readonly #texts: PageTexts
  readonly #timeoutMs: number
  readonly #ready = Promise.withResolvers<void>()
  #pending: Pending | undefined
  #failure: DatabaseError | undefined

  constructor(path: string, timeoutMs: number, isUrgent: boolean) {
    this.#timeoutMs = timeoutMs
    const child = fork(program, [path, String(timeoutMs)], {
      serialization: 'advanced',
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    })
    this.#child = child
    this.#texts = new PageTexts(child.stdout)
    if (child.pid !== undefined && !isUrgent) lowerPriority(child.pid)
    this.#ready.promise.catch(() => {}) // a process may end before it is used
    child.on('message', (message: ReaderMessage) => this.#receive(message))
    child.on('error', (error) => this.kill(new DatabaseError({ kind: 'lost' }, error)))
    child.on('exit', () => this.kill(new DatabaseError({ kind: 'lost' }, 'A reader process has ended')))
  }

  get isUsable(): boolean {
    return this.#failure === undefined
  }

  read({ text, values }: RunStatement, options?: ReadOptions): Promise<readonly Row[]> {
    return this.#run({ text, values }, options) as Promise<readonly Row[]>
  }

  /** Rows where no encoding is given. */
  readPage(
    { text, values }: RunStatement,
    encoding: Encoding | undefined,
    options?: ReadOptions,
  ): Promise<readonly Row[] | EncodedPage> {
    const { maxAnswerBytes } = options?.budget ?? {}
    return this.#run({ text, values, encoding, maxAnswerBytes }, options)
  }

  /**
   * The time limit counts from the start of the statement; past it, or some time after the signal aborts, the process is killed. Not
   * at once, because another one would have to be started for the next scan.
   */
  async #run(request: ReaderRequest, { signal, budget }: ReadOptions = {}): Promise<readonly Row[] | EncodedPage> {
    this.#setActive(true)
    const timers: NodeJS.Timeout[] = []
    const aborted = () => timers.push(setTimeout(() => this.kill(abortedRead()), abortedMs))
    try {
      await this.#ready.promise
      if (signal?.aborted) throw abortedRead()
      signal?.addEventListener('abort', aborted)
      timers.push(setTimeout(() => this.#timeOut(), this.#timeoutMs))
      const answer = await this.#request({ ...request, maxBytes: budget?.left }, budget)
      if (signal?.aborted) throw abortedRead()
      return answer
    } finally {
      for (const timer of timers) clearTimeout(timer)
      signal?.removeEventListener('abort', aborted)
      this.#pending = undefined
      this.#setActive(false)
    }
  }

  #request(request: ReaderRequest, budget: ByteBudget | undefined): Promise<readonly Row[] | EncodedPage> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure)
      this.#pending = { rows: [], budget, resolve, reject }
      this.#child.send(request)
    })
  }

  #receive(message: ReaderMessage): void {
    const pending = this.#pending
    if (message === 'ready') this.#ready.resolve()
    else if (!pending) return
    else if (message === 'large') pending.reject(pending.budget?.exceeded)
    else if ('failure' in message)
      pending.reject(sqliteError(Object.assign(new Error(message.failure.message), message.failure)))
    else if ('rows' in message) {
      const { rows } = pending
      if (message.bytes !== undefined) {
        pending.budget?.take(message.bytes)
        pending.resolve(rows.length === 0 ? message.rows : rows)
      } else for (const row of message.rows) rows.push(row)
    } else {
      pending.budget?.take(message.bytes)
      this.#texts.take(message.length).then((parts) => pending.resolve({ ...message.page, parts }))
    }
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
    this.#texts.setActive(isActive)
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
