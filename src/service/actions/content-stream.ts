import { Readable } from 'node:stream'

/** Bytes, or pieces of them, that an action answers with. Text is encoded as UTF-8. */
export type Content = Uint8Array | AsyncIterable<string | Uint8Array> | ReadableStream<string | Uint8Array>

type Piece = string | Uint8Array

export const isStream = (value: unknown): value is AsyncIterable<Piece> | ReadableStream =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

/**
 * The pieces of a content. Leaving them ends the source, also before the first piece, and while the next one is waited
 * for: an iterator of a stream would end it only after that piece, which may never come.
 */
export class ContentStream implements AsyncIterable<Piece> {
  readonly #content: Content

  constructor(content: Content) {
    this.#content = content
  }

  [Symbol.asyncIterator](): AsyncIterator<Piece> {
    const content = this.#content
    if (content instanceof Uint8Array) return single(content)
    if (content instanceof ReadableStream) return readerOf(content)
    return content instanceof Readable ? readableOf(content) : iteratorOf(content)
  }
}

/** Ends a content of which nothing will be read: what it holds, such as a file, is released. */
export async function endContent(content: unknown): Promise<void> {
  try {
    if (isStream(content)) await new ContentStream(content)[Symbol.asyncIterator]().return?.()
  } catch {
    // Nothing was to be read of it.
  }
}

async function* single(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes
}

const done = { done: true, value: undefined } as const

function readerOf(content: ReadableStream<Piece>): AsyncIterator<Piece> {
  const reader = content.getReader()
  return {
    next: async () => {
      const { done: isDone, value } = await reader.read()
      return isDone ? done : { done: false, value }
    },
    async return() {
      await reader.cancel()
      return done
    },
  }
}

function readableOf(content: Readable): AsyncIterator<Piece> {
  const pieces = content[Symbol.asyncIterator]()
  let isEnded = false
  return {
    async next() {
      try {
        return await pieces.next()
      } catch (error) {
        // To destroy a stream is an error of the piece that is waited for.
        if (isEnded) return done
        throw error
      }
    },
    async return() {
      isEnded = true
      // An error that follows may have no other listener, and would end the process.
      content.on('error', () => {}).destroy()
      return done
    },
  }
}

/** Its `return` gives a promise, whatever that of the application does. */
function iteratorOf(content: AsyncIterable<Piece>): AsyncIterator<Piece> {
  const pieces = content[Symbol.asyncIterator]()
  return {
    next: () => pieces.next(),
    async return() {
      await pieces.return?.()
      return done
    },
  }
}
