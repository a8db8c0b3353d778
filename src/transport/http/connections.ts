import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import { lingerMs } from './write.ts'

export interface Connection {
  readonly socket: Socket
  /** The response to the latest request. */
  latest: ServerResponse | undefined
  /** The response to the last of several pipelined requests, of which some may not have begun. */
  last?: ServerResponse
  /** Whether a response to invalid HTTP was sent on it. */
  refused: boolean
  /** Whether an upgrade handler owns the connection, and closes it. */
  upgraded: boolean
  /**
   * The poll of the event loop in which the latest request arrived. Undefined for a request with a body, whose end may have
   * arrived later.
   */
  poll: number | undefined
  /** The number of the latest request, counted over all connections; 0 before the first. */
  request: number
}

/**
 * At a stop, an idle connection is closed if no request arrives for this long: a request that was sent before the stop may still
 * be on its way.
 */
const idleGraceMs = 100

/** The usual length of the queue in which the operating system holds connections until the server accepts them. */
const maxBacklog = 511

/** The open connections of a server and the pending response on each, so that they can be closed without losing one. */
export class Connections {
  /** Its listener sets the latest response of each. */
  readonly open = new Map<Duplex, Connection>()
  #accepted = 0
  /** True during a stop: the last response of each connection closes it. */
  isDraining = false

  add(socket: Socket): void {
    const connection: Connection = { socket, latest: undefined, refused: false, upgraded: false, poll: 0, request: 0 }
    this.open.set(socket, connection)
    this.#accepted++
    eventLoopTurn.accepted()
    socket.on('close', () => this.open.delete(socket))
    if (this.isDraining) endWhenIdle(connection)
  }

  /** Records the response to a pipelined request. It closes the connection if the server stops. */
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

  /**
   * Resolves when all connections that the operating system holds for the server are accepted. Node accepts one in each turn of
   * the event loop.
   */
  async backlogAccepted(): Promise<void> {
    const most = this.#accepted + maxBacklog
    for (let before = -1; before < this.#accepted && before < most; ) {
      before = this.#accepted
      await setImmediate()
      await setImmediate()
    }
  }

  /**
   * Resolves when all connections of this process are closed. `server.close` does not wait for those that other processes have
   * given to this one.
   */
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
    // In a busy process, the timer fires before requests that have arrived are read.
    await setImmediate()
    await setImmediate()
    // Browsers open connections before they need them. A connection on which a request has begun to arrive stays open.
    if (socket.bytesRead === received && (latest || received === 0)) lingeringClose(socket)
  }, idleGraceMs)
  socket.once('close', () => clearTimeout(timer))
}

/** The last response that is pending, if one is. */
export const lastOf = ({ last, latest }: Connection): ServerResponse | undefined =>
  last && !last.closed ? last : latest

/** Whether no other request of the connection waits behind it. */
export const isLast = ({ last }: Connection, response: ServerResponse): boolean =>
  last === undefined || last === response || last.closed

/**
 * Ends this side of a connection and waits for the client to end its side. To destroy it at once would send a reset if data of
 * the client is unread, and the response could be lost.
 */
export function lingeringClose(socket: Duplex): void {
  socket.end()
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref()
  socket.once('close', () => clearTimeout(timer))
}
