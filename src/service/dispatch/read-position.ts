import type { Position } from '../../protocol/change.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { ServiceRequest } from '../../protocol/request.ts'
import type { ChangeLog } from '../../storage/change-log.ts'
import { backgroundError } from '../../support/background-error.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import { decodeResumePosition } from '../live/resume-position.ts'

/** The position is read again when it is this old. */
const refreshMs = 100
/** A longer position, which lists many running transactions, is not sent: proxies may refuse long headers. */
const longestPosition = 500
/** Requests that wait for a position share one read of it in each interval of this length. */
const pollMs = 5
/** The longest pause between two checks of a waiting request. The first pauses are shorter. */
const maxPauseMs = 80

/**
 * The log position that answers name: every read includes at least the changes up to it. It is renewed in the background, so that
 * no request waits for it.
 */
export class ReadPosition {
  readonly #log: ChangeLog
  readonly #onError: (error: unknown) => void
  #position: Position | undefined
  #isReading = false
  /** The read that all waiting requests share. */
  #sharedRead: Promise<void> | undefined
  #sharedReadAt = Number.NEGATIVE_INFINITY
  #isStopped = false
  #stale: NodeJS.Timeout | undefined
  /** The position, if it is recent enough to be named in an answer. Read it before the data is read. */
  latest: Position | undefined

  constructor(log: ChangeLog, onError: (error: unknown) => void) {
    this.#log = log
    this.#onError = onError
  }

  /** The position as it is known while it is read again. Undefined: not known yet. */
  renew(): Position | undefined {
    if (!this.#isReading) {
      this.#isReading = true
      setImmediate(() => this.#refresh().catch((error) => this.#failed(error)))
    }
    return this.#position !== undefined && this.#position.length <= longestPosition ? this.#position : undefined
  }

  /** No position is read from now on. */
  stop(): void {
    this.#isReading = true
    this.#isStopped = true
  }

  /** A service that closes meanwhile ends the read. */
  #failed(error: unknown): void {
    if (!this.#isStopped) this.#onError(backgroundError('The position of the change log could not be read', error))
  }

  /** Resolves when reads of this process include the position that a client names. Undefined if they do already. */
  waitFor(header: ServiceRequest['headers'][string], maxWaitMs: number): Promise<void> | undefined {
    if (header === undefined) return undefined
    // The position of a stream of live queries contains digests as well.
    const target = decodeResumePosition(String(header)).position
    if (this.#position !== undefined && this.#log.reaches(this.#position, target)) return undefined
    return this.#wait(target, maxWaitMs)
  }

  async #wait(target: Position, maxWaitMs: number): Promise<void> {
    const until = performance.now() + maxWaitMs
    for (let pauseMs = pollMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      this.#sharedRead ??= this.#readForAll()
      await this.#sharedRead
      // Of a long position, this may take a millisecond, and thousands may wait.
      if (eventLoopTurn.isUsed) await eventLoopTurn.next()
      const isReached = this.#log.reaches(this.#position as Position, target)
      // Those that wait are not answered all in one turn.
      if (isReached) return eventLoopTurn.next()
      if (isReached === undefined)
        throw new ServiceError('E_BAD_REQUEST', '"Keelson-After" is not a position of this database')
      if (performance.now() >= until) throw tooLate(maxWaitMs)
      await sleep(pauseMs)
    }
  }

  async #readForAll(): Promise<void> {
    try {
      const pauseMs = this.#sharedReadAt + pollMs - performance.now()
      if (pauseMs > 0) await sleep(pauseMs)
      await this.#refresh()
    } finally {
      this.#sharedReadAt = performance.now()
      this.#sharedRead = undefined
    }
  }

  async #refresh(): Promise<void> {
    if (this.#isStopped) return
    this.#isReading = true
    try {
      const position = await this.#log.head()
      // Two concurrent reads may end in another order than they began.
      if (this.#position === undefined || this.#log.reaches(position, this.#position) !== false)
        this.#position = position
    } finally {
      this.#isReading = this.#isStopped
      clearTimeout(this.#stale)
      if ((this.#position?.length ?? 0) <= longestPosition) this.latest = this.#position
      this.#stale = setTimeout(() => (this.latest = undefined), refreshMs).unref()
    }
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const tooLate = (maxWaitMs: number): ServiceError =>
  new ServiceError('E_UNAVAILABLE', `The position in "Keelson-After" was not reached within ${maxWaitMs} ms`, {
    limit: 'maxAfterWaitMs',
    headers: { 'Retry-After': '1' },
  })
