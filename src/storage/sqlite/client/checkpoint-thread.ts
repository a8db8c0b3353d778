import { Worker } from 'node:worker_threads'

/** The program of the thread, as text: it needs no file, neither from source nor built or bundled. */
const program = `
const { parentPort, workerData } = require('node:worker_threads')
const { DatabaseSync } = require('node:sqlite')
const database = new DatabaseSync(workerData.path, { timeout: 0 })
parentPort.on('message', () => {
  try { database.exec('pragma wal_checkpoint(passive)') } catch {}
  parentPort.postMessage('done')
})`

/** Runs passive checkpoints in a thread: they wait for the disk, which would block the event loop. */
export class CheckpointThread {
  readonly #path: string
  #worker: Worker | undefined
  #isRunning = false

  constructor(path: string) {
    this.#path = path
  }

  /** Starts a checkpoint unless one is running. It may fail: the automatic checkpoint of the writer is the fallback. */
  run(): void {
    if (this.#isRunning) return
    this.#worker ??= this.#start()
    this.#isRunning = true
    this.#worker.postMessage('checkpoint')
  }

  #start(): Worker {
    const worker = new Worker(program, { eval: true, workerData: { path: this.#path } })
    worker.unref()
    const end = () => {
      if (this.#worker === worker) this.#worker = undefined
      this.#isRunning = false
    }
    worker.on('message', () => {
      this.#isRunning = false
    })
    worker.on('error', end)
    worker.on('exit', end)
    return worker
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }
}
