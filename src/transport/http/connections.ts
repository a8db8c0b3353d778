import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

interface Connection {
  readonly socket: Socket
  /** The answer to the last request that came on it. */
  latest: ServerResponse | undefined
}

/** The open connections of a server, and what is owed on each: what it takes to end them gently. */
export class Connections {
  readonly #open = new Map<Duplex, Connection>()

  add(socket: Socket): void {
    this.#open.set(socket, { socket, latest: undefined })
    socket.once('close', () => this.#open.delete(socket))
  }

  began(res: ServerResponse): void {
    const connection = this.#open.get(res.req.socket)
    if (connection) connection.latest = res
  }

  latest(socket: Duplex): ServerResponse | undefined {
    return this.#open.get(socket)?.latest
  }

  /** Lets each connection end with the answer that is owed on it. Idle ones the server closes itself. */
  retire(): void {
    for (const { socket, latest } of this.#open.values()) {
      if (!latest) {
        // Browsers open connections that they may never use; to the server these look like slow requests.
        if (socket.bytesRead === 0) socket.destroy()
      } else if (!latest.headersSent) {
        latest.setHeader('Connection', 'close')
      } else if (!latest.closed) {
        latest.once('close', () => socket.end())
      }
    }
  }

  /** Ends them all, now. */
  cut(): void {
    for (const socket of this.#open.keys()) socket.destroy()
  }
}
