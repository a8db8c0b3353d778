import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import type { OptionValues } from '../option.ts'
import { ConnectionHandoff } from './connection-handoff.ts'
import { type ConnectionMessage, isConnectionMessage, startMessage, type WorkerMessage } from './messages.ts'

export interface WorkerExit {
  readonly kind: 'exited'
  readonly code: number | null
  readonly signal: string | null
}

/** The end of a message such as "exited with code 1". */
export const exitReason = ({ code, signal }: WorkerExit): string => signal ?? `code ${code ?? 'unknown'}`

/** The arguments of a worker, so that it uses the same configuration as its parent. */
export function workerArguments({ config, host, database, port, log, json, verbose }: OptionValues): string[] {
  const values = Object.entries({ config, host, database, port }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`],
  )
  const switches = Object.entries({ log, json: log && json, verbose }).flatMap(([name, isOn]) =>
    isOn ? [`--${name}`] : [],
  )
  return ['worker', ...values, ...switches]
}

/** A worker process, as seen by its parent. It exits when the parent ends, because the channel is closed then. */
export class Worker {
  readonly #child: ChildProcess
  readonly #handoff: ConnectionHandoff
  readonly #messages: (WorkerMessage | WorkerExit)[] = []
  #waiting: ((message: WorkerMessage | WorkerExit) => void) | undefined
  readonly exited: Promise<WorkerExit>

  /** `child` must have been started with an IPC channel. `route` receives the connections that it sends to other workers. */
  constructor(child: ChildProcess, route?: (message: ConnectionMessage, connection: Socket) => void) {
    this.#child = child
    this.#handoff = new ConnectionHandoff(child)
    this.#child.on('message', (message: WorkerMessage | ConnectionMessage, connection?: unknown) => {
      if (!isConnectionMessage(message)) this.#receive(message)
      else if (connection) route?.(message, connection as Socket)
    })
    this.exited = new Promise((resolve) => {
      const end = (code: number | null, signal: string | null) => {
        const exited: WorkerExit = { kind: 'exited', code, signal }
        this.#receive(exited)
        this.#handoff.clear()
        resolve(exited)
      }
      this.#child.once('exit', end)
      this.#child.on('error', () => end(null, null))
    })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  #receive(message: WorkerMessage | WorkerExit): void {
    if (this.#waiting) this.#waiting(message)
    else this.#messages.push(message)
    this.#waiting = undefined
  }

  /** The next message. The exit is the last one. */
  next(): Promise<WorkerMessage | WorkerExit> {
    const message = this.#messages.shift()
    if (message) return Promise.resolve(message)
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }

  /** Sends a connection to the worker. It is closed if the worker has ended. */
  sendConnection(message: ConnectionMessage, connection: Socket): void {
    if (this.#child.connected) this.#handoff.send(message, connection)
    else connection.destroy()
  }

  /** Tells the worker to open the database and to serve. */
  start(): void {
    if (this.#child.connected) this.#child.send(startMessage)
  }

  /** Resolves when the process has ended. After `stopTimeoutMs` it is killed. */
  async stop(stopTimeoutMs?: number): Promise<void> {
    this.#child.kill('SIGTERM')
    const timer = stopTimeoutMs === undefined ? undefined : setTimeout(() => this.#child.kill('SIGKILL'), stopTimeoutMs)
    await this.exited
    clearTimeout(timer)
  }
}
