import type { IncomingMessage } from 'node:http'
import { Gathered } from './gather.ts'

/**
 * Calls back once with the bytes of the body; with undefined as soon as there are more than allowed, by what the
 * request says of itself or by what came; and never when the client goes away before the end.
 */
export function readBody(
  req: IncomingMessage,
  maxBodyBytes: number,
  done: (bytes: Uint8Array | undefined) => void,
): void {
  if (Number(req.headers['content-length']) > maxBodyBytes) {
    done(undefined)
    return
  }
  const gathered = new Gathered()
  const take = (chunk: Uint8Array): void => {
    if (gathered.length + chunk.length <= maxBodyBytes) {
      gathered.add(chunk)
    } else {
      req.off('data', take)
      req.off('end', finish)
      done(undefined)
    }
  }
  const finish = (): void => done(gathered.bytes())
  req.on('data', take)
  req.on('end', finish)
}
