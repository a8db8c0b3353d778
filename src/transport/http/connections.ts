import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import { lingerMs } from './write.ts'

export interface Connection {
  readonly socket: Socket
  /** The response to its latest request that was begun. */
  latest: ServerResponse | undefined
  /** That to the last of requests that were sent in one piece, of which some may wait for those before them. */
  last?: ServerResponse
  /** Whether a response to invalid HTTP was sent on it. */
  refused: boolean
  /** Whether an upgrade handler owns it now, and closes it. */
  upgraded: boolean
  /** In which its latest request arrived; undefined where that had a body, whose end may have arrived later. */
  poll: number | undefined
}

/**
 * A request that a client sent before the stop may arrive after it: idle connections are closed when none has arrived
 * for this long.
 */
const idleGraceMs = 100

/** As many connections as the system holds by default until a server accepts them. */
const maxBacklog = 511

/** The open connections of a server and the pending response on each, so that they can be closed without losing one. */
export class Connections {
  /** Its listener sets the latest response of each. */
  readonly open = new Map<Duplex, Connection>()
  #accepted = 0
  /** Whether each response is the last one of its connection. */
  isDraining = false

  add(socket: Socket): void {
    const connection: Connection = { socket, latest: undefined, refused: false, upgraded: false, poll: 0 }
    this.open.set(socket, connection)
    this.#accepted++
    eventLoopTurn.accepted()
    socket.on('close', () => this.open.delete(socket))
    if (this.isDraining) endWhenIdle(connection)
  }

  /** Of a request behind one that is pending: the last one closes the connection. */
  setLast(socket: Socket, response: ServerResponse): void {
    const connection = this.open.get(socket)
    if (!connection) return
    const before = lastOf(connection)
    connection.last = response
    if (!this.isDraining) return
    if (before && !before.headersSent) before.removeHeader('Connection')
    response.setHeader('Connection', 'close')
  }

  markUpgraded(socket: Duplex): void {
    const connection = this.open.get(socket)
    if (connection) connection.upgraded = true
  }

  get(socket: Duplex): Connection | undefined {
    return this.open.get(socket)
  }

  /** The last response that is pending on it. */
  pendingOn(socket: Duplex): ServerResponse | undefined {
    const connection = this.open.get(socket)
    const response = connection && lastOf(connection)
    return response?.closed === false ? response : undefined
  }

  /** Ends each connection after the last response that is pending on it. */
  drain(): void {
    this.isDraining = true
    for (const connection of this.open.values()) {
      if (connection.upgraded) continue
      const latest = lastOf(connection)
      if (!latest || latest.closed) endWhenIdle(connection)
      else if (latest.headersSent) latest.once('close', () => endWhenIdle(connection))
      else latest.setHeader('Connection', 'close')
    }
  }

  /** Resolves when the connections that the system holds for the server are accepted: one in each turn of the event loop. */
  async backlogAccepted(): Promise<void> {
    const most = this.#accepted + maxBacklog
    for (let before = -1; before < this.#accepted && before < most; ) {
      before = this.#accepted
      await setImmediate()
      await setImmediate()
    }
  }

  /** Resolves when all are closed. A server waits for those that it has accepted, and not for those of other processes. */
  async closed(): Promise<void> {
    for (const socket of this.open.keys()) await new Promise<void>((resolve) => socket.once('close', () => resolve()))
  }

  /** Closes all connections at once. */
  terminate(): void {
    for (const socket of this.open.keys()) socket.destroy()
  }
}

/** A request that arrives within the grace period is answered, and its response closes the connection. */
function endWhenIdle({ socket, latest }: Connection): void {
  const received = socket.bytesRead
  const timer = setTimeout(async () => {
    // The timer of a busy process fires before what has arrived is read.
    await setImmediate()
    await setImmediate()
    // Browsers open connections ahead of use. One that has begun to send a request may finish it.
    if (socket.bytesRead === received && (latest || received === 0)) endGently(socket)
  }, idleGraceMs)
  socket.once('close', () => clearTimeout(timer))
}

/** The last response that is pending, if one is. */
export const lastOf = ({ last, latest }: Connection): ServerResponse | undefined =>
  last && !last.closed ? last : latest

/** Whether no other request of the connection waits behind it. */
export const isLast = ({ last }: Connection, response: ServerResponse): boolean =>
  last === undefined || last === response || last.closed

/** Closes a connection when the client does: an immediate close would be a reset for what the client has just sent. */
export function endGently(socket: Duplex): void {
  socket.end()
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref()
  socket.once('close', () => clearTimeout(timer))
}
