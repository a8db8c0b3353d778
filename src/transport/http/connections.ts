import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export interface Connection {
  readonly socket: Socket
  /** The answer to the last request that came on it. */
  latest: ServerResponse | undefined
  /** Whether it was told that what came on it is no request. */
  refused: boolean
  /** Whether it speaks another protocol now, and is somebody else’s to end gently. */
  taken: boolean
}

/** The open connections of a server, and what is owed on each: what it takes to end them gently. */
export class Connections {
  readonly #open = new Map<Duplex, Connection>()

  add(socket: Socket): void {
    this.#open.set(socket, { socket, latest: undefined, refused: false, taken: false })
    socket.on('close', () => this.#open.delete(socket))
  }

  began(res: ServerResponse): void {
    const connection = this.#open.get(res.req.socket)
    if (connection) connection.latest = res
  }

  handOver(socket: Duplex): void {
    const connection = this.#open.get(socket)
    if (connection) connection.taken = true
  }

  of(socket: Duplex): Connection | undefined {
    return this.#open.get(socket)
  }

  /** Ends each connection as soon as nothing is owed on it, which for idle ones is now. */
  retire(): void {
    for (const { socket, latest, taken } of this.#open.values()) {
      if (taken) continue
      if (!latest) {
        // Browsers open connections that they may never use. What has begun to ask may go on.
        if (socket.bytesRead === 0) socket.destroy()
      } else if (latest.closed) {
        socket.destroy()
      } else if (latest.headersSent) {
        latest.once('close', () => socket.end())
      } else {
        latest.setHeader('Connection', 'close')
      }
    }
  }

  /** Ends them all, now. */
  cut(): void {
    for (const socket of this.#open.keys()) socket.destroy()
  }
}
