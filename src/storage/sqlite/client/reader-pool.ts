import type { Limits } from '../../../support/limits.ts'
import type { MaybePromise } from '../../../support/maybe-promise.ts'
import { budgetOf } from '../../byte-budget.ts'
import { DatabaseError, type Reader, type Row, type Statement } from '../../driver.ts'
import type { EncodedPage, Encoding } from '../../encoding.ts'
import type { ReadOptions } from '../../store.ts'
import { abortedRead, WaitQueue } from '../../wait-queue.ts'
import { ReaderProcess } from './reader-process.ts'

/** An idle reader process is ended after this time. */
const idleMs = 30_000
const maxWaiting = 1_000

type ReaderLimits = Pick<Limits, 'maxScans' | 'statementTimeoutMs' | 'busyTimeoutMs' | 'maxAnswerBytes'>

/** The reader processes of one file, started when they are needed. A read waits while all of them are in use. */
export class ReaderPool {
  readonly #path: string
  readonly #limits: ReaderLimits
  readonly #isUrgent: boolean
  readonly #used = new Set<ReaderProcess>()
  readonly #waiting: WaitQueue<ReaderProcess>
  #idle: { readonly reader: ReaderProcess; readonly sinceMs: number }[] = []
  #sweep: NodeJS.Timeout | undefined
  #isClosed = false

  /** `isUrgent`: other work waits for what is read. */
  constructor(path: string, limits: ReaderLimits, isUrgent = false) {
    this.#path = path
    this.#limits = limits
    this.#isUrgent = isUrgent
    this.#waiting = new WaitQueue('reader', limits.busyTimeoutMs)
  }

  #start(): ReaderProcess {
    return new ReaderProcess(this.#path, this.#limits.statementTimeoutMs, this.#isUrgent)
  }

  read(statement: Statement, options?: ReadOptions): Promise<readonly Row[]> {
    return this.#use(options, (reader) => reader.read(statement, options))
  }

  readPage(
    statement: Statement,
    encoding: Encoding | undefined,
    options?: ReadOptions,
  ): Promise<readonly Row[] | EncodedPage> {
    return this.#use(options, (reader) => reader.readPage(statement, encoding, options))
  }

  /** Several reads in one snapshot. */
  snapshot<T>(work: (reader: Reader) => MaybePromise<T>, options?: ReadOptions): Promise<T> {
    return this.#use(options, async (reader) => {
      await reader.read(begin, options)
      try {
        const ofSnapshot = (read?: ReadOptions) => ({
          signal: options?.signal,
          budget: budgetOf(read, this.#limits.maxAnswerBytes),
        })
        return await work({
          read: (statement, read) => reader.read(statement, ofSnapshot(read)),
          readPage: (statement, encoding, read) => reader.readPage(statement, encoding(), ofSnapshot(read)),
        })
      } finally {
        if (reader.isUsable) await reader.read(rollback)
      }
    })
  }

  async #use<T>(options: ReadOptions | undefined, work: (reader: ReaderProcess) => Promise<T>): Promise<T> {
    const reader = await this.#acquire(options?.signal)
    try {
      return await work(reader)
    } finally {
      this.#release(reader)
    }
  }

  async #acquire(signal: AbortSignal | undefined): Promise<ReaderProcess> {
    if (this.#isClosed) throw closed()
    if (signal?.aborted) throw abortedRead()
    if (this.#used.size < this.#limits.maxScans) return this.#take(this.#idle.pop()?.reader ?? this.#start())
    if (this.#waiting.size >= maxWaiting) throw new DatabaseError({ kind: 'busy' }, `${maxWaiting} scans are waiting`)
    return this.#waiting.wait({ signal })
  }

  #take(reader: ReaderProcess): ReaderProcess {
    this.#used.add(reader)
    return reader
  }

  #release(reader: ReaderProcess): void {
    this.#used.delete(reader)
    const next = this.#waiting.take()
    if (this.#isClosed) reader.kill()
    else if (next) next.resolve(this.#take(reader.isUsable ? reader : this.#start()))
    else if (reader.isUsable) {
      this.#idle.push({ reader, sinceMs: performance.now() })
      this.#sweep ??= setInterval(() => this.#endIdle(), idleMs / 2).unref()
    }
  }

  #endIdle(): void {
    const oldest = performance.now() - idleMs
    this.#idle = this.#idle.filter(({ reader, sinceMs }) => {
      if (sinceMs < oldest) reader.kill()
      return sinceMs >= oldest
    })
    if (this.#idle.length > 0) return
    clearInterval(this.#sweep)
    this.#sweep = undefined
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#sweep)
    this.#waiting.rejectAll(closed())
    for (const reader of this.#used) reader.kill()
    for (const { reader } of this.#idle) reader.kill()
  }
}

const begin = { text: 'begin', values: [] }
const rollback = { text: 'rollback', values: [] }

const closed = (): DatabaseError => new DatabaseError({ kind: 'lost' }, 'The database is closed')
