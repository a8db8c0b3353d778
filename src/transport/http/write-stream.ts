import type { ServerResponse } from 'node:http'
import type { ServiceResponse, Streamed } from '../../protocol/request.ts'
import type { Report } from './fail.ts'
import { streamHeadersOf } from './write.ts'

/** The streams of a server that have no end in sight, so that it can stop all the same. */
export class OpenStreams {
  readonly #stops = new Set<() => void>()
  #isStopped = false

  /** A stream that begins after the others were stopped is stopped at once. */
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

export interface StreamOptions {
  readonly streams: OpenStreams
  /** A reader who takes nothing for this long is given up. */
  readonly patienceMs: number
  readonly report: Report
}

/**
 * Sends an answer in pieces, the next one when the reader has taken those before. Throws, before anything is sent, for
 * headers that HTTP does not allow.
 */
export function writeStream(
  res: ServerResponse,
  response: ServiceResponse & { readonly stream: Streamed },
  options: StreamOptions,
): void {
  const pieces = response.stream[Symbol.asyncIterator]()
  const leave = (): void => {
    pieces.return?.().catch(options.report)
  }
  if (res.destroyed || res.headersSent) {
    leave()
    return
  }
  try {
    res.writeHead(response.status, streamHeadersOf(response))
  } catch (error) {
    leave()
    throw error
  }
  if (res.req.method === 'HEAD') {
    leave()
    res.end()
    return
  }
  res.flushHeaders()
  res.once('close', leave)
  void send(res, pieces, response.stream, options)
}

async function send(
  res: ServerResponse,
  pieces: AsyncIterator<string | Uint8Array>,
  stream: Streamed,
  { streams, patienceMs, report }: StreamOptions,
): Promise<void> {
  // Who does not read would not hear the last words either.
  using _ = stream.stop && streams.add(() => (res.writableNeedDrain ? res.destroy() : stream.stop?.()))
  try {
    for (;;) {
      const { done, value } = await pieces.next()
      if (res.destroyed) return
      if (done) break
      if (!res.write(value)) await drained(res, patienceMs)
    }
    res.end()
    const timer = giveUpAfter(patienceMs, res)
    res.once('close', () => clearTimeout(timer))
  } catch (error) {
    report(error)
    // An answer that breaks off must not look like a whole one.
    res.destroy()
  }
}

function drained(res: ServerResponse, patienceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = giveUpAfter(patienceMs, res)
    const go = (): void => {
      clearTimeout(timer)
      res.off('drain', go)
      res.off('close', go)
      resolve()
    }
    res.on('drain', go)
    res.on('close', go)
  })
}

const giveUpAfter = (ms: number, res: ServerResponse): NodeJS.Timeout => setTimeout(() => res.destroy(), ms).unref()
