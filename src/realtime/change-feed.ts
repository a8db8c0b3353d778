import type { Change, Position } from '../protocol/change.ts'
import { backgroundError } from '../support/background-error.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import { yieldToEventLoop } from '../support/yield-to-event-loop.ts'

/** The part of a change log that is read continuously. */
export interface ChangeSource {
  head(): MaybePromise<Position>
  read(
    after: Position,
    limit: number,
    isWanted?: (model: string) => boolean,
  ): MaybePromise<
    { readonly changes: readonly Change[]; readonly position: Position; readonly bytes?: number } | 'reset'
  >
  onChange(listener: () => void): Disposable
}

/** The changes of one operation, of the models that were asked for. */
export interface ChangeOperation {
  /** At least one. */
  readonly changes: readonly Change[]
  /** Where a reader that has received all of it resumes. */
  readonly position: Position
}

export interface ChangeFeedListener {
  /** Whether changes of this model are needed. Asked for each change before it is decoded. */
  wants(model: string): boolean
  /** The feed waits for it, so that every listener receives the order of the log. It does not throw. */
  onOperation(operation: ChangeOperation): MaybePromise<void>
  /** Every wanted change up to this position has been delivered. */
  onPosition?(position: Position): MaybePromise<void>
  /** The position of the feed is gone: changes may have been missed. */
  onGap(): void
}

/** An entry in the list of listeners. Disposing of it ends the delivery at once. */
export interface Listening extends Disposable {
  /** Resolves when every change that is committed from now on will be delivered. */
  readonly ready: Promise<void>
}

const changesPerRead = 500
/** Delay before the log is read again after an error. */
const retryMs = 1_000
/** With more waiting callbacks the log is read at once, without a hint: a write that changed nothing produces no hint. */
const maxWaitingCallbacks = 500

/**
 * Reads the change log once for all listeners of the process and delivers it in the order of the log. Without listeners
 * nothing is read.
 */
export class ChangeFeed {
  readonly #source: ChangeSource
  readonly #onError: (error: unknown) => void
  /** A listener that ends and starts again is another entry, so that the end of the first does not end the second. */
  readonly #entries = new Set<{ readonly listener: ChangeFeedListener }>()
  /**
   * Callbacks of `whenCaughtUp`. Those in `#catchingUp` are called when the current read reaches the end of the log, those in
   * `#waiting` when the next one does.
   */
  #waiting: (() => void)[] = []
  #catchingUp: (() => void)[] = []
  #position: Position | undefined
  #hints: Disposable | undefined
  #reading: Promise<void> | undefined
  #isHinted = false

  constructor(source: ChangeSource, onError: (error: unknown) => void) {
    this.#source = source
    this.#onError = onError
  }

  listen(listener: ChangeFeedListener): Listening {
    const entry = { listener }
    this.#entries.add(entry)
    if (!this.#hints) {
      this.#hints = this.#source.onChange(() => this.#onHint())
      this.#position = undefined
    }
    const end = (): void => {
      if (this.#entries.delete(entry) && this.#entries.size === 0) this.close()
    }
    const ready = this.#begin().catch((error) => {
      end()
      throw error
    })
    return { ready, [Symbol.dispose]: end }
  }

  /**
   * Calls back once everything that is committed by now has been delivered. The log is read with the next hint, or at once with
   * `soon`. When the last listener ends, waiting callbacks are dropped and not called.
   */
  whenCaughtUp(callback: () => void, soon = false): void {
    this.#waiting.push(callback)
    if ((soon || this.#waiting.length > maxWaitingCallbacks) && this.#hints) this.#onHint()
  }

  close(): void {
    this.#hints?.[Symbol.dispose]()
    this.#hints = undefined
    this.#position = undefined
    this.#waiting = []
    this.#catchingUp = []
  }

  async #begin(): Promise<void> {
    if (this.#position !== undefined) return
    const head = await this.#source.head()
    this.#position ??= head
  }

  #onHint(): void {
    this.#isHinted = true
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
      if (this.#isHinted && this.#hints) this.#onHint()
    })
  }

  async #read(): Promise<void> {
    while (this.#isHinted && this.#hints) {
      this.#isHinted = false
      try {
        await this.#begin()
        await this.#readToEnd()
      } catch (error) {
        if (!this.#hints) return // without listeners the log may be closed
        this.#onError(backgroundError('The change log could not be read', error))
        // Retry from the same position after a delay, because the next hint may be far away.
        setTimeout(() => this.#onHint(), retryMs).unref()
        return
      }
    }
  }

  async #readToEnd(): Promise<void> {
    const hints = this.#hints
    // True if all listeners ended during a read; other listeners may have started since, at another position.
    const isOver = () => this.#position === undefined || this.#hints !== hints
    if (isOver()) return
    for (let delivered = 0; ; ) {
      this.#catchingUp.push(...this.#waiting.splice(0))
      const batch = await this.#source.read(this.#position as Position, changesPerRead, (model) => this.#wants(model))
      if (isOver()) return
      if (batch === 'reset') return this.#skipGap(isOver)
      await this.#deliver(batch.changes)
      if (isOver()) return
      this.#position = batch.position
      for (const { listener } of [...this.#entries]) {
        const told = listener.onPosition?.(batch.position)
        if (told instanceof Promise) await told
      }
      if (isOver()) return
      if (batch.changes.length === 0) return this.#caughtUp()
      delivered += batch.changes.length
      if (delivered < changesPerRead) continue
      delivered = 0
      await yieldToEventLoop() // reading a file never waits by itself
      if (isOver()) return
    }
  }

  async #skipGap(isOver: () => boolean): Promise<void> {
    const head = await this.#source.head()
    if (isOver()) return
    this.#position = head
    for (const { listener } of [...this.#entries]) listener.onGap()
    this.#caughtUp()
  }

  #caughtUp(): void {
    for (const callback of this.#catchingUp.splice(0)) callback()
  }

  #wants(model: string): boolean {
    for (const { listener } of this.#entries) if (listener.wants(model)) return true
    return false
  }

  async #deliver(changes: readonly Change[]): Promise<void> {
    for (const operation of operationsOf(changes)) {
      for (const { listener } of [...this.#entries]) {
        const delivered = listener.onOperation(operation)
        if (delivered instanceof Promise) await delivered
      }
    }
  }
}

/** The changes by operation. The changes of one operation are adjacent. */
export function* operationsOf(changes: readonly Change[]): Generator<ChangeOperation> {
  for (let from = 0; from < changes.length; ) {
    let to = from + 1
    while (to < changes.length && changes[to]?.operation === changes[from]?.operation) to++
    const operation = changes.slice(from, to)
    yield { changes: operation, position: (operation.at(-1) as Change).position }
    from = to
  }
}
