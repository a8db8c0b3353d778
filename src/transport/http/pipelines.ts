import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import { yieldToEventLoop } from '../../support/yield-to-event-loop.ts'
import type { Connections } from './connections.ts'

type Answer = (req: IncomingMessage, res: ServerResponse) => void

interface Waiting {
  readonly req: IncomingMessage
  readonly res: ServerResponse
}

/** Requests of one connection that are begun before the first of them is answered; a database has others to serve as well. */
const maxBegun = 16
/** Connections on which more requests wait have turns: one of them is answered at a time. */
const manyWaiting = 100
/** A connection whose answer takes longer than this lets the next one have its turn. */
const maxTurnMs = 100

/**
 * A client may send many requests in one piece, without waiting for responses, and Node reads all of them in one turn of
 * the event loop. Once the turn is used, or many are begun, the rest of them waits, each until the one before it is
 * answered, and nothing more is read from the connection meanwhile.
 */
export class Pipelines {
  readonly #answer: Answer
  readonly #connections: Connections | undefined
  readonly #waiting = new WeakMap<Socket, Waiting[]>()
  /** Behind the one that is pending, those that did not have to wait. */
  readonly #begun = new WeakMap<Socket, number>()
  #isHolding = false
  #lastTurn: Promise<void> = Promise.resolve()

  constructor(answer: Answer, connections?: Connections) {
    this.#answer = answer
    this.#connections = connections
  }

  /** True: the request, which is behind one that is pending on its connection, is answered in a later turn. */
  defer(req: IncomingMessage, res: ServerResponse): boolean {
    const { socket } = req
    const waiting = this.#waiting.get(socket)
    if (waiting) {
      waiting.push({ req, res })
      return true
    }
    const begun = this.#begun.get(socket) ?? 0
    if (begun < maxBegun && !eventLoopTurn.isUsed) {
      this.#begun.set(socket, begun + 1)
      res.once('close', () => this.#begun.set(socket, (this.#begun.get(socket) as number) - 1))
      return false
    }
    const queue = [{ req, res }]
    this.#waiting.set(socket, queue)
    // Node resumes the connection after each response.
    socket.pause().on('resume', pause)
    this.#holdOthers()
    void this.#answerInTurns(socket, queue)
    return true
  }

  /** What other connections have received is read in the next turn: each may have received as many requests. */
  #holdOthers(): void {
    if (this.#isHolding || !this.#connections) return
    this.#isHolding = true
    const held: Socket[] = []
    for (const { socket, upgraded } of this.#connections.open.values())
      if (!upgraded && !this.#waiting.has(socket) && !socket.isPaused()) held.push(socket.pause())
    setImmediate(() => {
      this.#isHolding = false
      for (const socket of held) if (!this.#waiting.has(socket)) socket.resume()
    })
  }

  async #answerInTurns(socket: Socket, queue: Waiting[]): Promise<void> {
    let endTurn: (() => void) | undefined
    for (let next = queue[0]; next && !socket.destroyed; queue.shift(), next = queue[0]) {
      if (endTurn === undefined && (queue.length > manyWaiting || eventLoopTurn.isUsed)) endTurn = await this.#turn()
      const answered = new Promise((resolve) => next.res.once('close', resolve))
      this.#answer(next.req, next.res)
      await answered
      if (!eventLoopTurn.isUsed) continue
      endTurn?.()
      endTurn = undefined
    }
    endTurn?.()
    this.#waiting.delete(socket)
    socket.off('resume', pause).resume()
  }

  /**
   * Resolves, with what ends it, when it is the turn of this connection alone: when its client has gone, which writing to
   * it shows, Node aborts all of its requests in one turn.
   */
  async #turn(): Promise<() => void> {
    const { promise, resolve: end } = Promise.withResolvers<void>()
    const before = this.#lastTurn
    this.#lastTurn = promise
    await before
    await yieldToEventLoop()
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    const timer = setTimeout(end, maxTurnMs)
    return () => {
      clearTimeout(timer)
      end()
    }
  }
}

function pause(this: Socket): void {
  this.pause()
}
