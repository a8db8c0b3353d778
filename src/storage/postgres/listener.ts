import type { Wake } from '../wake.ts'
import type { Connection } from './connection.ts'

const channel = 'keelson'
/** Writes that we hear nothing of are looked for as often as this, as long as somebody listens. */
const pollMs = 1_000
/** However many commits there are, other processes are not told more often. */
const tellEveryMs = 20

/**
 * Wakes whoever waits for changes: after our own commits at once, after those of other processes of ours when they say
 * so, and for the writes of strangers now and then. Triggers do not notify: commits that do stand in one line.
 */
export class Listener {
  readonly #wake: Wake
  readonly #open: () => Promise<Connection>
  readonly #tell: (channel: string, self: string) => Promise<unknown>
  readonly #self: string
  readonly #report: (error: unknown) => void
  #hasReported = false
  #poll: NodeJS.Timeout | undefined
  #connection: Connection | undefined
  #connecting: Promise<void> | undefined
  #telling: NodeJS.Timeout | undefined
  #toTell = false
  #isClosed = false

  constructor(parts: {
    wake: Wake
    /** A connection of our own, which nobody else uses. */
    open: () => Promise<Connection>
    /** Sends a notification. */
    tell: (channel: string, self: string) => Promise<unknown>
    /** What distinguishes us from other processes. */
    self: string
    report: (error: unknown) => void
  }) {
    this.#wake = parts.wake
    this.#open = parts.open
    this.#tell = parts.tell
    this.#self = parts.self
    this.#report = parts.report
  }

  onWake(listener: () => void): Disposable {
    const registration = this.#wake.add(listener)
    if (!this.#isClosed) this.#poll ??= setInterval(() => this.#look(), pollMs).unref()
    this.#listen()
    return {
      [Symbol.dispose]: () => {
        registration[Symbol.dispose]()
        if (!this.#wake.hasListeners) this.#rest()
      },
    }
  }

  /** After a commit of ours. */
  committed(): void {
    this.#wake.call()
    this.#toTell = true
    if (this.#telling === undefined && !this.#isClosed) this.#tellOthers()
  }

  #tellOthers(): void {
    this.#toTell = false
    this.#tell(channel, this.#self).catch(() => {}) // they look for themselves before long
    this.#telling = setTimeout(() => {
      this.#telling = undefined
      if (this.#toTell && !this.#isClosed) this.#tellOthers()
    }, tellEveryMs).unref()
  }

  #look(): void {
    this.#wake.call()
    this.#listen()
  }

  #listen(): void {
    if (this.#isClosed || this.#connecting || (this.#connection && this.#connection.failure === undefined)) return
    this.#connecting = this.#connect()
      .catch((error) => {
        // The next look tries again, and there is no need to say so every time.
        if (!this.#hasReported) this.#report(error)
        this.#hasReported = true
      })
      .finally(() => {
        this.#connecting = undefined
      })
  }

  async #connect(): Promise<void> {
    const connection = await this.#open()
    connection.onNotification((payload) => {
      if (payload !== this.#self) this.#wake.call()
    })
    await connection.run({ text: `listen ${channel}`, values: [], how: 'several' })
    if (!this.#wake.hasListeners || this.#isClosed) return connection.close()
    this.#connection = connection
    this.#hasReported = false
    this.#wake.call() // for what happened while nobody heard
  }

  #rest(): void {
    clearInterval(this.#poll)
    this.#poll = undefined
    void this.#connection?.close()
    this.#connection = undefined
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#telling)
    clearInterval(this.#poll)
    await this.#connecting
    await this.#connection?.close()
  }
}
