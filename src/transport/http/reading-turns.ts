import type { Socket } from 'node:net'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { Connections } from './connections.ts'

const none: ReadonlySet<Socket> = new Set()

/**
 * Which connections are read in a turn of the event loop. Each may have received as many requests as the one that has used
 * the turn, and Node reads all of them in one: the others are held until the next turn.
 */
export class ReadingTurns {
  readonly #connections: Connections | undefined
  /** Connections that are not read until `restart`. */
  readonly #stopped = new WeakSet<Socket>()
  readonly #onceStopped = new WeakSet<Socket>()
  readonly #alone = new WeakSet<Socket>()
  /** Connections that are not read in this turn, and those of the turn before. */
  #held = new Set<Socket>()
  #due = none
  /** One of them is read in each turn. */
  readonly #waiting = new Set<Socket>()
  /** Of those that were held, the ones that wait for answers or were stopped: they may send as much as the one that used the turn. */
  readonly #unanswered: Socket[] = []
  #isEndScheduled = false
  #isResumeScheduled = false

  constructor(connections: Connections | undefined) {
    this.#connections = connections
  }

  /**
   * What other connections have received is read in the next turn. What is held then has been held once, and is read before
   * it is held again: otherwise each connection that is opened meanwhile would be read before it.
   */
  holdOthers(reader: Socket): void {
    if (this.#due.has(reader)) this.#due = none
    else if (this.#held.size > 0) return
    for (const { socket, upgraded } of this.#connections?.open.values() ?? [])
      if (
        !upgraded &&
        !this.#stopped.has(socket) &&
        !this.#waiting.has(socket) &&
        !this.#due.has(socket) &&
        !socket.isPaused()
      )
        this.#held.add(socket.pause())
    this.#scheduleEnd()
  }

  /** The connection is not read until `restart`. Node resumes it when a body is read, and after each response. */
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

  /** What the connection sends takes as long as many requests: each time that it is held from now on, it waits for its turn. */
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
   * The connections are read in the order in which they are resumed: at once, those that have sent one request at a time and have their
   * answers; once these are answered, those that may send as much as the one that has used the turn, and one of those that wait for their turn.
   */
  readonly #endTurn = (): void => {
    this.#isEndScheduled = false
    const held = this.#held
    this.#held = new Set()
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

/** A connection that was paused after it was resumed, but before it emits this, would be read: pausing it again emits nothing. */
function pause(this: Socket): void {
  if (this.isPaused()) this.emit('pause')
  else this.pause()
}
