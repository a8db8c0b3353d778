import { Readable } from 'node:stream'
import { isBytes } from '../../support/is-bytes.ts'

/** Bytes, or pieces of them, that an action answers with. Text is encoded as UTF-8. */
export type Content = Uint8Array | AsyncIterable<string | Uint8Array> | ReadableStream<string | Uint8Array>

type Piece = string | Uint8Array

export const isStream = (value: unknown): value is AsyncIterable<Piece> | ReadableStream =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

/**
 * Iterates over content. `return` ends the source at once, even before the first piece or while the next one is pending. The
 * iterator of a stream would end it after the pending piece, which may never arrive.
 */
export class ContentStream implements AsyncIterable<Piece> {
  readonly #content: Content

  constructor(content: Content) {
    this.#content = content
  }

  [Symbol.asyncIterator](): AsyncIterator<Piece> {
    const content = this.#content
    if (isBytes(content)) return single(content)
    if (content instanceof ReadableStream) return readerOf(content)
    return content instanceof Readable ? readableOf(content) : iteratorOf(content)
  }
}

/** Ends content that will not be read, so that resources such as an open file are released. */
export async function endContent(content: unknown): Promise<void> {
  try {
    if (isStream(content)) await new ContentStream(content)[Symbol.asyncIterator]().return?.()
  } catch {
    // Errors do not matter: the content is not used.
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
        // Destroying the stream makes the pending read fail.
        if (isEnded) return done
        throw error
      }
    },
    async return() {
      isEnded = true
      // An error after `destroy` may have no other listener, and would end the process.
      content.on('error', () => {}).destroy()
      return done
    },
  }
}

/** An iterator whose `return` resolves with a valid result, whatever the application's returns. */
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
