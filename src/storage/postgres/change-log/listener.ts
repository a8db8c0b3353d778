import { backgroundError } from '../../../support/background-error.ts'
import type { ChangeNotifier } from '../../change-notifier.ts'
import type { Connection } from '../client/connection.ts'

const channel = 'keelson'
/** Interval of the poll for writes of other programs, while there are listeners. */
export const defaultPollMs = 1_000
/** The shortest interval between two notifications to other processes. */
const notifyIntervalMs = 20

/**
 * Calls the notifier after commits: of this process at once, of other Keelson processes by NOTIFY, of other programs by a
 * poll. Triggers do not notify: commits with a NOTIFY are serialized by the server.
 */
export class Listener {
  readonly #notifier: ChangeNotifier
  readonly #open: (() => Promise<Connection>) | undefined
  readonly #notify: (channel: string, self: string) => Promise<unknown>
  readonly #self: string
  readonly #onError: (error: unknown) => void
  readonly #pollMs: number
  #hasReported = false
  #poll: NodeJS.Timeout | undefined
  #connection: Connection | undefined
  #connecting: Promise<void> | undefined
  #notifyTimer: NodeJS.Timeout | undefined
  #mustNotify = false
  #isClosed = false

  constructor(parts: {
    notifier: ChangeNotifier
    /** Opens a connection that is not shared; undefined: none keeps its LISTEN. */
    open: (() => Promise<Connection>) | undefined
    /** Sends a notification. */
    notify: (channel: string, self: string) => Promise<unknown>
    /** Identifies this process in notifications. */
    self: string
    onError: (error: unknown) => void
    pollMs?: number | undefined
  }) {
    this.#notifier = parts.notifier
    this.#open = parts.open
    this.#notify = parts.notify
    this.#self = parts.self
    this.#onError = parts.onError
    this.#pollMs = parts.pollMs ?? defaultPollMs
  }

  onChange(listener: () => void): Disposable {
    const registration = this.#notifier.add(listener)
    if (!this.#isClosed) this.#poll ??= setInterval(() => this.#check(), this.#pollMs).unref()
    this.#listen()
    return {
      [Symbol.dispose]: () => {
        registration[Symbol.dispose]()
        if (!this.#notifier.hasListeners) this.#stopListening()
      },
    }
  }

  /** Called after a commit of this process. */
  committed(): void {
    this.#notifier.call()
    this.#mustNotify = true
    if (this.#notifyTimer === undefined && !this.#isClosed) this.#notifyOthers()
  }

  #notifyOthers(): void {
    this.#mustNotify = false
    this.#notify(channel, this.#self).catch(() => {}) // the poll of the other processes is the fallback
    this.#notifyTimer = setTimeout(() => {
      this.#notifyTimer = undefined
      if (this.#mustNotify && !this.#isClosed) this.#notifyOthers()
    }, notifyIntervalMs).unref()
  }

  #check(): void {
    this.#notifier.call()
    this.#listen()
  }

  #listen(): void {
    const open = this.#open
    if (!open || this.#isClosed || this.#connecting) return
    if (this.#connection && this.#connection.failure === undefined) return
    this.#connecting = this.#connect(open)
      .catch((error) => {
        // The next poll tries again; the error is reported once.
        if (!this.#hasReported)
          this.#onError(backgroundError('The connection that listens for changes could not be opened', error))
        this.#hasReported = true
      })
      .finally(() => {
        this.#connecting = undefined
      })
  }

  async #connect(open: () => Promise<Connection>): Promise<void> {
    const connection = await open()
    connection.onNotification((payload) => {
      if (payload !== this.#self) this.#notifier.call()
    })
    await connection.run({ text: `listen ${channel}`, values: [], how: 'several' })
    if (!this.#notifier.hasListeners || this.#isClosed) return connection.close()
    this.#connection = connection
    this.#hasReported = false
    this.#notifier.call() // for commits before the LISTEN
  }

  #stopListening(): void {
    clearInterval(this.#poll)
    this.#poll = undefined
    void this.#connection?.close()
    this.#connection = undefined
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#notifyTimer)
    clearInterval(this.#poll)
    await this.#connecting
    await this.#connection?.close()
  }
}
