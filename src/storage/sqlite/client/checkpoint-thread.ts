import { Worker } from 'node:worker_threads'

/** The program of the thread, as text: it needs no file, neither from source nor built or bundled. */
const program = `
const { parentPort, workerData } = require('node:worker_threads')
const { DatabaseSync } = require('node:sqlite')
const database = new DatabaseSync(workerData.path, { timeout: 0 })
parentPort.on('message', (mode) => {
  let busy = 1
  try { busy = database.prepare('pragma wal_checkpoint(' + mode + ')').get().busy } catch {}
  parentPort.postMessage(mode === 'truncate' ? busy === 0 : undefined)
})`

/** Runs checkpoints in a thread: they write and wait for the disk, which would block the event loop. */
export class CheckpointThread {
  readonly #path: string
  #worker: Worker | undefined
  #isRunning = false
  #truncated: PromiseWithResolvers<boolean> | undefined

  constructor(path: string) {
    this.#path = path
  }

  /** Starts a passive checkpoint unless one is running. It may fail: the automatic checkpoint of the writer is the fallback. */
  run(): void {
    if (this.#isRunning) return
    this.#worker ??= this.#start()
    this.#isRunning = true
    this.#worker.postMessage('passive')
  }

  /** Resolves with whether the log was truncated, which readers prevent, as does a writer. */
  truncate(): Promise<boolean> {
    this.#worker ??= this.#start()
    this.#truncated ??= Promise.withResolvers()
    this.#worker.postMessage('truncate')
    return this.#truncated.promise
  }

  #endTruncate(isTruncated: boolean): void {
    this.#truncated?.resolve(isTruncated)
    this.#truncated = undefined
  }

  #start(): Worker {
    const worker = new Worker(program, { eval: true, workerData: { path: this.#path } })
    worker.unref()
    const end = () => {
      if (this.#worker === worker) this.#worker = undefined
      this.#isRunning = false
      this.#endTruncate(false)
    }
    worker.on('message', (isTruncated: boolean | undefined) => {
      if (isTruncated === undefined) this.#isRunning = false
      else this.#endTruncate(isTruncated)
    })
    worker.on('error', end)
    worker.on('exit', end)
    return worker
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }
}
