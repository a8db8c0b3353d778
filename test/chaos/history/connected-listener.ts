import type { Connection } from './connection.ts'
import type { InProcess } from './in-process.ts'
import { listenByLoop } from './listen-by-loop.ts'
import { listenBySocket } from './listen-by-socket.ts'
import { listenByStream } from './listen-by-stream.ts'
import type { Listener } from './listener.ts'

export type By = 'stream' | 'socket' | 'loop'

/** Where a listener may connect. */
export interface Services {
  readonly inProcess: InProcess
  /** Undefined while the server does not serve. */
  urlOf(server: number): string | undefined
}

/** A listener with its connection, which may be cut off and resume. */
export class ConnectedListener {
  readonly listener: Listener
  readonly #by: By
  readonly #services: Services
  /** Begins in the middle of an operation, when it is new. */
  readonly #beginsInside: boolean
  /** Where it resumes. */
  #position: string | undefined
  connection: Connection | undefined
  isStalled = false

  constructor(listener: Listener, by: By, services: Services, beginsInside: boolean) {
    this.listener = listener
    this.#by = by
    this.#services = services
    this.#beginsInside = beginsInside
  }

  async connect(server: number): Promise<void> {
    const { listener } = this
    listener.note(`connects to ${server}, behind ${this.#position}`)
    try {
      const connection = await this.#open(server)
      if (!connection) return
      this.connection = connection
      void connection.ended.then(
        () => this.#lost(connection),
        (error) => listener.fail(error),
      )
    } catch (error) {
      listener.fail(error) // nothing happens to a server meanwhile
    }
  }

  stall(isStalled: boolean): void {
    if (this.isStalled !== isStalled) this.connection?.stall(isStalled)
    this.isStalled = isStalled
  }

  async #open(server: number): Promise<Connection | undefined> {
    const { inProcess } = this.#services
    const inside = this.#beginsInside && this.#by !== 'socket' ? await inProcess.insideOperation() : undefined
    const from = { position: this.#position, since: this.#position ?? inside }
    if (this.#by === 'loop') return listenByLoop(this.listener, inProcess, from)
    const url = this.#services.urlOf(server)
    if (url === undefined) return undefined
    return this.#by === 'stream' ? listenByStream(this.listener, url, from) : listenBySocket(this.listener, url)
  }

  #lost(connection: Connection): void {
    if (this.connection !== connection) return
    this.listener.note(`lost, behind ${connection.position}`)
    this.connection = undefined
    this.isStalled = false
    this.#position = connection.position
  }
}
