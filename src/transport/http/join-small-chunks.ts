import type { IncomingMessage } from 'node:http'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { ReadingTurns } from './reading-turns.ts'

/** In bytes. Node calls a listener of the stream for each chunk, and runs the queue of `nextTick` after it. */
const smallChunk = 1024
/** In bytes. Small chunks are joined up to this length. */
const pieceBytes = 16_384
/** This many chunks of a body take less than a millisecond. */
const chunksAtOnce = 256

export interface ChunkOptions {
  readonly turns: ReadingTurns
  readonly maxChunks: number
  /** Called at the first chunk above `maxChunks`. No further chunk is read. */
  readonly refuse: () => void
}

/**
 * Joins the small chunks of a chunked body that arrive in one turn of the event loop: 64 kB may contain 10,000 of them. When the
 * turn is used, the rest of the body and the other connections are read in the next turn; without this, Node would read up to 32
 * times 64 kB of the connection in one turn.
 */
export function joinSmallChunks(req: IncomingMessage, { turns, maxChunks, refuse }: ChunkOptions): void {
  const { push, socket } = req
  // Chunks are copied: garbage collection of thousands of small buffers takes longer than reading them.
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
