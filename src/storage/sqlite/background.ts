import { Worker } from 'node:worker_threads'
import { DatabaseError, type Row } from '../driver.ts'
import { sqliteError } from './errors.ts'

/**
 * The thread's own program, as text: it is the same whether we run from source or were built, and needs no file to be
 * found. It answers `{ id, rows }` or `{ id, failure }`.
 */
const program = `
const { parentPort, workerData } = require('node:worker_threads')
const { DatabaseSync } = require('node:sqlite')
const database = new DatabaseSync(workerData.path, { timeout: 0 })
parentPort.on('message', ({ id, text, values }) => {
  try {
    const statement = database.prepare(text)
    statement.setReturnArrays(true)
    let rows
    try { rows = statement.all(...values) }
    catch (error) {
      if (error.code !== 'ERR_OUT_OF_RANGE') throw error
      statement.setReadBigInts(true)
      rows = statement.all(...values)
    }
    parentPort.postMessage({ id, rows })
  } catch (error) {
    parentPort.postMessage({ id, failure: { message: error.message, errcode: error.errcode } })
  }
})`

interface Pending {
  readonly resolve: (rows: readonly Row[]) => void
  readonly reject: (error: unknown) => void
  readonly timer: NodeJS.Timeout
}

/** A thread for what would hold up every request: statements that read the whole table, and checkpoints. */
export class Background {
  readonly #path: string
  readonly #timeoutMs: number
  #worker: Worker | undefined
  #pending = new Map<number, Pending>()
  #next = 0

  constructor(path: string, timeoutMs: number) {
    this.#path = path
    this.#timeoutMs = timeoutMs
  }

  run(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    this.#worker ??= this.#start()
    const worker = this.#worker
    const id = this.#next++
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#giveUp(), this.#timeoutMs)
      this.#pending.set(id, { resolve, reject, timer })
      if (this.#pending.size === 1) worker.ref()
      worker.postMessage({ id, text, values })
    })
  }

  #start(): Worker {
    const worker = new Worker(program, { eval: true, workerData: { path: this.#path } })
    worker.unref()
    worker.on('message', ({ id, rows, failure }) => {
      const pending = this.#pending.get(id)
      if (!pending) return
      this.#pending.delete(id)
      if (this.#pending.size === 0) worker.unref()
      clearTimeout(pending.timer)
      if (failure) pending.reject(sqliteError(Object.assign(new Error(failure.message), { errcode: failure.errcode })))
      else pending.resolve(rows)
    })
    worker.on('error', (error) => this.#drop(worker, sqliteError(error)))
    worker.on('exit', () => this.#drop(worker, new DatabaseError({ kind: 'lost' }, 'The reading thread has stopped')))
    return worker
  }

  /** A statement cannot be stopped inside SQLite; its thread is left behind, and the next question gets a new one. */
  #giveUp(): void {
    const worker = this.#worker
    if (!worker) return
    this.#drop(worker, new DatabaseError({ kind: 'timeout' }, `No answer within ${this.#timeoutMs} ms`))
    void worker.terminate()
  }

  #drop(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    const pending = this.#pending
    this.#pending = new Map()
    for (const { reject, timer } of pending.values()) {
      clearTimeout(timer)
      reject(error)
    }
  }

  async close(): Promise<void> {
    const worker = this.#worker
    if (!worker) return
    this.#drop(worker, new DatabaseError({ kind: 'lost' }, 'The database is closed'))
    await worker.terminate()
  }
}
