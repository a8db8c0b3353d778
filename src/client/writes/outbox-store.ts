import type { OutboxOptions } from './outbox-options.ts'
import { described, type PendingWrite } from './pending-write.ts'

/** The writes of an outbox in its storage. */
export class OutboxStore {
  readonly #options: OutboxOptions
  readonly #key: string
  #saved = '[]'
  /** One after another, so that the latest is what remains. */
  #saving: Promise<unknown> = Promise.resolve()
  /** Resolves when the writes of an earlier page are loaded: later ones follow them. Then undefined. */
  loaded: Promise<void> | undefined

  /** @param add Receives the writes of an earlier page in their order. */
  constructor(options: OutboxOptions, add: (write: PendingWrite) => void) {
    this.#options = options
    this.#key = options.key ?? 'keelson'
    this.loaded = this.#load(add)
  }

  async #load(add: (write: PendingWrite) => void): Promise<void> {
    try {
      const text = (await this.#options.storage?.getItem(this.#key)) ?? '[]'
      this.#saved = text
      for (const saved of JSON.parse(text) as readonly PendingWrite[]) {
        const write: PendingWrite = {
          ...saved,
          before: new Map(),
          resolve() {},
          reject: (error) => this.#options.onRefused?.(error as Error, described(write)),
        }
        add(write)
      }
    } catch {
      // A storage that cannot be read is like an empty one.
    }
    this.loaded = undefined
  }

  save(writes: readonly PendingWrite[]): void {
    const { storage } = this.#options
    if (!storage) return
    // It may have been sent: after a reload its answer is unknown, as if there had been none. JSON has no functions.
    const ofPage = { state: 'kept', sentAt: 0, before: undefined, signal: undefined }
    const text = JSON.stringify(writes.map((write) => ({ ...write, ...ofPage })))
    if (text === this.#saved) return
    this.#saved = text
    // A storage that is full keeps what it has.
    this.#saving = this.#saving.then(() => storage.setItem(this.#key, text)).catch(() => {})
  }
}
