import { connect, type Socket } from 'node:net'

/*
 * A WebSocket client that only finds the ends of frames, so that it is never slower than the server
 * that writes them. All clients read into the same memory.
 */

const text = 0x81
const headEnd = Buffer.from('\r\n\r\n')
const nothing = Buffer.alloc(0)
const shared = Buffer.allocUnsafe(256 * 1024)

export interface RawSocket {
  send(text: string): void
  destroy(): void
}

/** Receives a frame and the index at which its payload begins. The memory of the frame is reused after the call. */
export type FrameListener = (frame: Buffer, start: number, socket: RawSocket) => void

/** Resolves when the server has taken the connection. */
export function openRawSocket(port: number, path: string, onFrame: FrameListener): Promise<RawSocket> {
  return new Promise((resolve, reject) => {
    let isOpen = false
    let rest = nothing
    const read = (size: number): boolean => {
      const chunk = shared.subarray(0, size)
      let unread = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
      if (!isOpen) {
        const end = unread.indexOf(headEnd)
        if (end === -1) return keep(unread)
        if (!unread.toString('latin1', 0, 12).endsWith(' 101')) return fail(unread.toString('latin1', 0, 500))
        isOpen = true
        unread = unread.subarray(end + headEnd.length)
        resolve(opened)
      }
      return keep(takeFrames(unread, (frame, start) => onFrame(frame, start, opened)))
    }
    const keep = (unread: Buffer): boolean => {
      rest = unread.length === 0 ? nothing : Buffer.from(unread)
      return true
    }
    const fail = (answer: string): boolean => {
      reject(new Error(`No WebSocket:\n${answer}`))
      return false
    }
    const socket: Socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: { buffer: shared, callback: read },
    })
    const opened: RawSocket = {
      send: (message) => void socket.write(maskedFrame(message)),
      destroy: () => void socket.destroy(),
    }
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('The server closed a connection')))
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'A'.repeat(22)}==\r\n\r\n`,
    )
  })
}

/** Returns the bytes after the last complete frame. */
function takeFrames(unread: Buffer, onFrame: (frame: Buffer, start: number) => void): Buffer {
  let from = 0
  while (unread.length - from >= 2) {
    const short = unread[from + 1] as number
    const start = from + (short < 126 ? 2 : short === 126 ? 4 : 10)
    if (unread.length < start) break
    const length = short < 126 ? short : short === 126 ? unread.readUInt16BE(from + 2) : unread.readUInt32BE(from + 6)
    if (unread.length < start + length) break
    if (unread[from] === text) onFrame(unread.subarray(from, start + length), start - from)
    from = start + length
  }
  return unread.subarray(from)
}

/** The mask is all zeros, so that it does not change the bytes. */
function maskedFrame(message: string): Buffer {
  const payload = Buffer.from(message)
  if (payload.length > 125) throw new Error('A message of more than 125 bytes is not supported')
  return Buffer.concat([Buffer.from([text, 0x80 | payload.length, 0, 0, 0, 0]), payload])
}
