import type { WaitingBytes, WaitingClient } from '../../support/waiting-bytes.ts'
import { type LiveFrame, sizeOfFrame } from './live-frame.ts'

interface QueuedFrame {
  readonly frame: LiveFrame
  size: number
}

/** The frames that wait for the consumer of a stream, and their size, which counts among what waits for all clients. */
export class FrameQueue {
  readonly #waiting: WaitingBytes
  readonly #onOverflow: () => void
  #client: WaitingClient
  #frames: QueuedFrame[] = []
  #bytes = 0
  #rowsBytes = 0
  #wake: (() => void) | undefined
  #isEnded = false

  constructor(waiting: WaitingBytes, onOverflow: () => void) {
    this.#waiting = waiting
    this.#onOverflow = onOverflow
    this.#client = waiting.add(onOverflow)
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Without rows, which are read only when few bytes wait. */
  get pushedBytes(): number {
    return this.#bytes - this.#rowsBytes
  }

  get isEmpty(): boolean {
    return this.#frames.length === 0
  }

  add(frame: LiveFrame): void {
    if (this.#isEnded) return
    const queued = { frame, size: sizeOfFrame(frame) }
    this.#frames.push(queued)
    this.#count(queued, 1)
    this.#wake?.()
  }

  /** Adds operations to the last frame. False: none waits that reports operations. */
  report(operations: readonly string[]): boolean {
    const last = this.#frames.at(-1)
    if (last?.frame.event !== 'diff' && last?.frame.event !== 'seen') return false
    last.frame.operations = [...(last.frame.operations ?? []), ...operations]
    const size = sizeOfFrame(last.frame)
    // What it was before is not taken off: fewer bytes would mean that the client reads.
    this.#count({ frame: last.frame, size: size - last.size }, 1)
    last.size = size
    return true
  }

  /** Removes all frames. Where the consumer waits, the first one is not removed: it is about to be taken. */
  clear(): readonly LiveFrame[] {
    const kept = this.#wake ? 1 : 0
    const removed = this.#frames.slice(kept)
    // It no longer counts.
    this.#frames = this.#frames.slice(0, kept).map(({ frame }) => ({ frame, size: 0 }))
    this.#bytes = 0
    this.#rowsBytes = 0
    this.#client.set(0)
    // Its entry may have been given up together with the bytes.
    this.#client = this.#waiting.add(this.#onOverflow)
    return removed.map(({ frame }) => frame)
  }

  /** No further frame is added; those that wait are still taken. */
  end(): void {
    this.#isEnded = true
    this.#wake?.()
  }

  /** Resolves when there is a frame; undefined at the end. */
  async take(): Promise<LiveFrame | undefined> {
    while (this.#frames.length === 0 && !this.#isEnded)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    this.#wake = undefined
    const queued = this.#frames.shift()
    if (queued) this.#count(queued, -1)
    return queued?.frame
  }

  #count({ size, frame }: QueuedFrame, sign: 1 | -1): void {
    this.#bytes += sign * size
    if (frame.event === 'rows') this.#rowsBytes += sign * size
    this.#client.set(this.#bytes)
  }
}
