import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'

type Answer = (req: IncomingMessage, res: ServerResponse) => void

interface Waiting {
  readonly req: IncomingMessage
  readonly res: ServerResponse
}

/**
 * A client may send many requests in one piece, without waiting for responses, and Node reads all of them in one turn of
 * the event loop. Once the turn is used, the rest of them waits, each until the one before it is
 * answered, and nothing more is read from the connection meanwhile.
 */
export class Pipelines {
  readonly #answer: Answer
  readonly #waiting = new WeakMap<Socket, Waiting[]>()

  constructor(answer: Answer) {
    this.#answer = answer
  }

  /** True: the request, which is behind one that is pending on its connection, is answered in a later turn. */
  defer(req: IncomingMessage, res: ServerResponse): boolean {
    const { socket } = req
    const waiting = this.#waiting.get(socket)
    if (waiting) {
      waiting.push({ req, res })
      return true
    }
    if (!eventLoopTurn.isUsed) return false
    const queue = [{ req, res }]
    this.#waiting.set(socket, queue)
    socket.pause()
    void this.#answerInTurns(socket, queue)
    return true
  }

  async #answerInTurns(socket: Socket, queue: Waiting[]): Promise<void> {
    for (let next = queue[0]; next && !socket.destroyed; queue.shift(), next = queue[0]) {
      if (eventLoopTurn.isUsed) await eventLoopTurn.next()
      const answered = new Promise((resolve) => next.res.once('close', resolve))
      this.#answer(next.req, next.res)
      await answered
    }
    this.#waiting.delete(socket)
    socket.resume()
  }
}
