import type { ChangeFeed, ChangeFeedListener, Listening } from './change-feed.ts'

/** The place of a listener in the change feed, for as long as it has users. */
export class SharedListening {
  readonly #feed: ChangeFeed
  readonly #listener: ChangeFeedListener
  #listening: Listening | undefined

  constructor(feed: ChangeFeed, listener: ChangeFeedListener) {
    this.#feed = feed
    this.#listener = listener
  }

  /** Resolves when every change that is committed from now on will be delivered. After a failure the next call tries again. */
  async begin(): Promise<void> {
    this.#listening ??= this.#feed.listen(this.#listener)
    const listening = this.#listening
    try {
      await listening.ready
    } catch (error) {
      if (this.#listening === listening) this.#listening = undefined
      throw error
    }
  }

  end(): void {
    this.#listening?.[Symbol.dispose]()
    this.#listening = undefined
  }
}
