import type { Socket } from 'node:net'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { Connections } from './connections.ts'

const none: ReadonlySet<Socket> = new Set()

/**
 * Decides which connections are read in a turn of the event loop. When one connection has used the turn, others may have received
 * as many requests, and Node would read all of them in the same turn. They are paused until the next one.
 */
export class ReadingTurns {
  readonly #connections: Connections | undefined
  /** Connections that are not read until `restart`. */
  readonly #stopped = new WeakSet<Socket>()
  readonly #onceStopped = new WeakSet<Socket>()
  readonly #alone = new WeakSet<Socket>()
  /**
   * `#held`: connections that are paused in this turn. `#due`: those that were paused in the turn before, and are read in this
   * one.
   */
  #held = new Set<Socket>()
  #due = none
  /** Whether connections are paused in this turn, and whether all are. */
  #isHolding = false
  #holdsAll = false
  /** Connections of `readAlone`. One of them is read in each turn. */
  readonly #waiting = new Set<Socket>()
  /** Paused connections with unanswered requests, or which were stopped: they may send as much as the one that used the turn. */
  readonly #unanswered: Socket[] = []
  #isEndScheduled = false
  #isResumeScheduled = false

  constructor(connections: Connections | undefined) {
    this.#connections = connections
  }

  /**
   * Pauses all other connections until the next turn, in which they are read before they can be paused again. Otherwise each
   * connection that is opened meanwhile would be read first.
   */
  holdOthers(reader: Socket): void {
    this.#hold(reader)
  }

  /**
   * As `holdOthers`, after several short requests. Thousands of connections may be idle, and to pause them takes longer than these
   * requests: at first only those are paused whose latest request has at least this number. When it is called again in the turn,
   * others have sent as many, and all are paused.
   */
  holdActive(reader: Socket, since: number): void {
    this.#hold(reader, this.#isHolding ? undefined : since)
  }

  #hold(reader: Socket, since?: number): void {
    if (this.#due.has(reader)) this.#due = none
    else if (this.#holdsAll) return
    for (const { socket, upgraded, request } of this.#connections?.open.values() ?? [])
      if (
        (since === undefined || request >= since) &&
        !upgraded &&
        !this.#stopped.has(socket) &&
        !this.#waiting.has(socket) &&
        !this.#due.has(socket) &&
        !socket.isPaused()
      )
        this.#held.add(socket.pause())
    this.#isHolding = true
    this.#holdsAll = since === undefined
    this.#scheduleEnd()
  }

  /**
   * Pauses the connection until `restart`. Node resumes a connection when a body is read and after each response, so it is paused
   * again each time.
   */
  stop(socket: Socket): void {
    this.#stopped.add(socket)
    this.#onceStopped.add(socket)
    socket.pause().on('resume', pause)
  }

  restart(socket: Socket): void {
    this.#stopped.delete(socket)
    socket.off('resume', pause)
    this.#waitForTurn(socket)
  }

  wasStopped(socket: Socket): boolean {
    return this.#onceStopped.has(socket)
  }

  /**
   * For a connection whose data takes as long as many requests, such as small chunks. From now on, whenever it is paused, it
   * waits for its turn among such connections.
   */
  readAlone(socket: Socket): void {
    this.#alone.add(socket)
    this.holdOthers(socket)
    this.#waitForTurn(socket)
  }

  isReadAlone(socket: Socket): boolean {
    return this.#alone.has(socket)
  }

  isWaiting(socket: Socket): boolean {
    return this.#waiting.has(socket)
  }

  #waitForTurn(socket: Socket): void {
    if (this.#waiting.has(socket)) return
    this.#waiting.add(socket)
    socket.pause().on('resume', pause)
    this.#scheduleEnd()
  }

  #scheduleEnd(): void {
    if (this.#isEndScheduled) return
    this.#isEndScheduled = true
    setImmediate(this.#endTurn)
  }

  /**
   * Resumes connections in the order in which they shall be read. First those that sent one request at a time and have their
   * answers. When these are answered: those that may send as much as the one that used the turn, and one of the connections of
   * `readAlone`.
   */
  readonly #endTurn = (): void => {
    this.#isEndScheduled = false
    const held = this.#held
    this.#held = new Set()
    this.#isHolding = this.#holdsAll = false
    const answered: Socket[] = []
    for (const socket of held)
      if (this.#alone.has(socket)) this.#waitForTurn(socket)
      else if (this.#sendsOneAtATime(socket)) answered.push(socket)
      else this.#unanswered.push(socket)
    this.#resume(answered)
    if (this.#isResumeScheduled || this.#unanswered.length + this.#waiting.size === 0) return
    this.#isResumeScheduled = true
    void eventLoopTurn.nextFirst().then(() => this.#resumeLong())
  }

  #sendsOneAtATime(socket: Socket): boolean {
    return !this.#onceStopped.has(socket) && this.#connections?.get(socket)?.latest?.closed === true
  }

  #resumeLong(): void {
    this.#isResumeScheduled = false
    this.#resume(this.#unanswered.splice(0))
    for (const socket of this.#waiting) {
      this.#waiting.delete(socket)
      socket.off('resume', pause).resume()
      break
    }
    if (this.#waiting.size > 0) this.#scheduleEnd()
  }

  #resume(sockets: readonly Socket[]): void {
    this.#due = new Set(sockets)
    for (const socket of sockets) socket.resume()
    if (sockets.length > 0) this.#scheduleEnd()
  }
}

/**
 * Pauses a connection when Node resumes it. If it was resumed and paused before `resume` is emitted, `pause()` would have no
 * effect and the connection would be read, so `pause` is emitted.
 */
function pause(this: Socket): void {
  if (this.isPaused()) this.emit('pause')
  else this.pause()
}
