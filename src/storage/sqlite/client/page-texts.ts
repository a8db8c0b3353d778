import type { Readable } from 'node:stream'

/** The texts that a reader process writes to its standard output, one after another: as bytes, in the pieces in which they come. */
export class PageTexts {
  /** A process that could not be started has none. */
  readonly #output: Readable | null | undefined
  #parts: Buffer[] = []
  #bytes = 0
  #wanted: { readonly bytes: number; readonly resolve: (parts: readonly Buffer[]) => void } | undefined

  constructor(output: Readable | null | undefined) {
    this.#output = output
    output?.on('data', (part: Buffer) => {
      this.#parts.push(part)
      this.#bytes += part.length
      this.#settle()
    })
    output?.on('error', () => {}) // the end of the process is reported by its own event
  }

  /** The next text, which has so many bytes. Never resolves when the process ends before. */
  take(bytes: number): Promise<readonly Buffer[]> {
    return new Promise((resolve) => {
      this.#wanted = { bytes, resolve }
      this.#settle()
    })
  }

  /** A process writes nothing beyond the text of the page that it was asked for. */
  #settle(): void {
    if (!this.#wanted || this.#bytes < this.#wanted.bytes) return
    this.#wanted.resolve(this.#parts)
    this.#wanted = undefined
    this.#parts = []
    this.#bytes = 0
  }

  /** Whether waiting for a text keeps this process alive. */
  setActive(isActive: boolean): void {
    const pipe = this.#output as (Readable & { ref(): void; unref(): void }) | null | undefined
    if (isActive) pipe?.ref()
    else pipe?.unref()
  }
}
