import type { IncomingMessage } from 'node:http'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { ReadingTurns } from './reading-turns.ts'

/** In bytes: Node calls a function of a stream for each, and runs what waits for the next tick. */
const smallChunk = 1024
/** In bytes: so many small chunks are one piece. */
const pieceBytes = 16_384
/** So many chunks of a body take less than a millisecond. */
const chunksAtOnce = 256

export interface ChunkOptions {
  readonly turns: ReadingTurns
  readonly maxChunks: number
  /** Called with the first chunk above `maxChunks`; nothing more is read. */
  readonly refuse: () => void
}

/**
 * Of a body in chunks, of which a piece of 64 kB may hold 10,000, the small ones of a turn are read as one. When they have used this turn, what
 * others have sent and the rest of the body are read in the next one: the system gives up to 32 pieces in a turn.
 */
export function joinSmallChunks(req: IncomingMessage, { turns, maxChunks, refuse }: ChunkOptions): void {
  const { push, socket } = req
  // Copies: thousands of small buffers that are kept take longer to be collected than to be read.
  let piece: Buffer | undefined
  let length = 0
  let chunks = 0
  const flush = (): void => {
    const bytes = piece?.subarray(0, length)
    piece = undefined
    length = 0
    if (bytes && !req.destroyed && !push.call(req, bytes)) socket.pause()
  }
  req.push = (chunk: Uint8Array | null, encoding) => {
    if (chunk === null || chunk.length > smallChunk || length + chunk.length > pieceBytes) flush()
    if (chunk === null || chunk.length > smallChunk) return push.call(req, chunk, encoding)
    if (piece === undefined) {
      piece = Buffer.allocUnsafe(pieceBytes)
      setImmediate(flush)
    }
    piece.set(chunk, length)
    length += chunk.length
    if (++chunks > maxChunks) {
      piece = undefined
      req.push = () => true
      turns.stop(socket)
      refuse()
      return true
    }
    if (chunks % chunksAtOnce > 0 || turns.isWaiting(socket)) return true
    // What is left of the piece is read in any case.
    if (turns.isReadAlone(socket) || eventLoopTurn.isUsed) turns.readAlone(socket)
    return true
  }
}
