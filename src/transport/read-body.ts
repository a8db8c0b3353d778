import type { IncomingMessage } from 'node:http'
import { eventLoopTurn } from '../support/event-loop-turn.ts'
import type { Observe } from '../support/observation.ts'
import type { WaitingBytes, WaitingClient } from '../support/waiting-bytes.ts'
import { BodyBuffer } from './body-buffer.ts'
import { isWeighed } from './body-weight.ts'

const empty = new Uint8Array(0)

export interface ReadOptions {
  readonly maxBodyBytes: number
  /** Counts the bytes of incomplete bodies. */
  readonly waiting: WaitingBytes
  readonly observe?: Observe | undefined
}

/** In bytes. A body of this length is parsed in less than a millisecond. */
export const longLength = 16_384

/**
 * Calls `done` with the bytes of the body, or `refuse` as soon as its declared or received size exceeds `maxBodyBytes`.
 * Calls neither when the client disconnects before the end. Most bodies are one chunk, which is not copied. A long one is given in a
 * later turn of the event loop, after what others have sent is read and lookups for it are sent to the database. So is one that may
 * take long, as several records do, when the turn is used.
 */
export function readBody(
  req: IncomingMessage,
  { maxBodyBytes, waiting, observe }: ReadOptions,
  done: (bytes: Uint8Array) => void,
  refuse: () => void,
): void {
  if (Number(req.headers['content-length']) > maxBodyBytes) {
    refuse()
    return
  }
  let only: Uint8Array = empty
  let several: BodyBuffer | undefined
  let length = 0
  let client: WaitingClient | undefined
  const disconnect = (): void => {
    observe?.({ kind: 'clientDisconnected', limit: 'maxWaitingBytes' })
    req.destroy()
  }
  const release = (): void => client?.set(0)
  const append = (chunk: Uint8Array): void => {
    length += chunk.length
    if (length > maxBodyBytes) {
      req.off('data', append)
      req.off('end', finish)
      release()
      refuse()
    } else if (length === chunk.length) only = chunk
    else {
      if (client === undefined) {
        client = waiting.add(disconnect)
        req.once('close', release)
      }
      client.set(length)
      several ??= new BodyBuffer(only)
      several.add(chunk)
    }
  }
  const finish = (): void => {
    const isDeferred = length > longLength || (eventLoopTurn.isUsed && (several !== undefined || isWeighed(only)))
    if (isDeferred) void eventLoopTurn.next().then(give)
    else give()
  }
  const give = (): void => {
    client?.set(0)
    const bytes = several ? several.bytes() : only
    // The request keeps this closure until it is answered, so the chunks are released.
    several = undefined
    only = empty
    done(bytes)
  }
  req.on('data', append)
  req.on('end', finish)
}
