import type { ServerResponse } from 'node:http'
import type { ErrorListener } from '../../protocol/error-response.ts'
import type { ServiceResponse, Streamed } from '../../protocol/request.ts'
import { eventLoopTurn, inTurns } from '../../support/event-loop-turn.ts'
import { DrainGuard, type DrainOptions } from './drain-guard.ts'
import { streamHeadersOf } from './write.ts'

/** The open event streams of a server, so that a stop can end them. */
export class OpenStreams {
  readonly #stops = new Set<() => void>()
  #isStopped = false

  /** A stream added after `stop` is stopped at once. */
  add(stop: () => void): Disposable {
    this.#stops.add(stop)
    if (this.#isStopped) stop()
    return { [Symbol.dispose]: () => this.#stops.delete(stop) }
  }

  stop(): void {
    this.#isStopped = true
    for (const stop of [...this.#stops]) stop()
  }
}

/** A reader that takes nothing for this long after a stop is taken for gone. */
const stopDrainMs = 1_000

export interface StreamOptions extends DrainOptions {
  readonly streams: OpenStreams
  readonly onError: ErrorListener
}

/**
 * Sends a response in chunks, each when the connection has taken the previous ones. Throws before anything is sent for
 * headers that HTTP does not allow.
 */
export function writeStream(
  res: ServerResponse,
  response: ServiceResponse & { readonly stream: Streamed },
  options: StreamOptions,
): void {
  const chunks = response.stream[Symbol.asyncIterator]()
  const cancel = (): void => {
    chunks.return?.().catch(options.onError)
  }
  if (res.destroyed || res.headersSent) {
    cancel()
    return
  }
  try {
    res.writeHead(response.status, streamHeadersOf(response))
  } catch (error) {
    cancel()
    throw error
  }
  if (res.req.method === 'HEAD') {
    cancel()
    res.end()
    return
  }
  res.flushHeaders()
  res.once('close', () => inTurns(cancel))
  void send(res, chunks, response.stream, options)
}

async function send(
  res: ServerResponse,
  chunks: AsyncIterator<string | Uint8Array>,
  stream: Streamed,
  options: StreamOptions,
): Promise<void> {
  const guard = new DrainGuard(res, options)
  using _ = stream.stop && options.streams.add(() => stopStream(res, stream))
  try {
    for (;;) {
      const { done, value } = await chunks.next()
      // One event may wake thousands of streams in one turn.
      if (eventLoopTurn.isUsed) await eventLoopTurn.next()
      if (res.destroyed) return
      if (done) break
      if (!res.write(value)) await guard.drained(res.writableLength + (stream.unsentLength ?? 0))
    }
    res.end()
    guard.ended()
  } catch (error) {
    options.onError(error)
    // Closing without the final chunk shows the client that the response is incomplete.
    res.destroy()
  }
}

/** The reader receives the final event, unless it takes nothing: then the stop does not wait for it. */
function stopStream(res: ServerResponse, stream: Streamed): void {
  stream.stop?.()
  if (!res.writableNeedDrain) return
  const timer = setTimeout(() => res.destroy(), stopDrainMs).unref()
  res.once('drain', () => clearTimeout(timer))
}
