import type { IncomingMessage } from 'node:http'
import { BodyBuffer } from './body-buffer.ts'

const empty = new Uint8Array(0)

/**
 * Calls `done` with the bytes of the body, or `refuse` as soon as its declared or received size exceeds `maxBodyBytes`.
 * Calls neither when the client disconnects before the end. Most bodies are one chunk, which is not copied.
 */
export function readBody(
  req: IncomingMessage,
  maxBodyBytes: number,
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
  const append = (chunk: Uint8Array): void => {
    length += chunk.length
    if (length > maxBodyBytes) {
      req.off('data', append)
      req.off('end', finish)
      refuse()
    } else if (length === chunk.length) only = chunk
    else {
      several ??= new BodyBuffer(only)
      several.add(chunk)
    }
  }
  const finish = (): void => done(several ? several.bytes() : only)
  req.on('data', append)
  req.on('end', finish)
}
