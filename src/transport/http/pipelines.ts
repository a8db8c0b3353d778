import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { Observe } from '../../support/observation.ts'
import type { WaitingBytes, WaitingClient } from '../../support/waiting-bytes.ts'
import { yieldToEventLoop } from '../../support/yield-to-event-loop.ts'
import type { ReadingTurns } from './reading-turns.ts'

type Answer = (req: IncomingMessage, res: ServerResponse) => void

export interface PipelineOptions {
  readonly turns: ReadingTurns
  /** The budget of all connections, in which the requests that wait count. */
  readonly waiting: WaitingBytes
  readonly observe?: Observe | undefined
}

/** The requests of one connection that wait. */
interface Queue {
  readonly requests: Waiting[]
  readonly client: WaitingClient
}

interface Waiting {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Before it is answered. */
  release(): void
}

/** Requests of one connection that are begun before the first of them is answered; a database has others to serve as well. */
const maxBegun = 16
/** In this time of a turn: what a connection has sent in one piece is read in any case, which takes milliseconds as well. */
const maxBegunMs = 2
/** What Node keeps of a short request that waits, and of its response. */
const requestBytes = 2_048
/** Connections on which more requests wait have turns: one of them is answered at a time. */
const manyWaiting = 100
/** A connection whose answer takes longer than this lets the next one have its turn. */
const maxTurnMs = 100

/** Methods whose requests may be answered together with others of their connection. */
const safeMethods: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * A client may send many requests in one piece, without waiting for responses, and Node reads all of them in one turn of
 * the event loop. Once time is used, or many are begun, the rest of them waits, each until the one before it is
 * answered, and nothing more is read from the connection meanwhile. So does what may write, and what is behind it: executed
 * together, the first of two writes could be the last one.
 */
export class Pipelines {
  readonly #answer: Answer
  readonly #options: PipelineOptions
  readonly #turns: ReadingTurns
  readonly #waiting = new WeakMap<Socket, Queue>()
  /** Behind the one that is pending, those that did not have to wait. */
  readonly #begun = new WeakMap<Socket, number>()
  /** The response to the latest request of a connection that may write. */
  readonly #writing = new WeakMap<Socket, ServerResponse>()
  #lastTurn: Promise<void> = Promise.resolve()

  constructor(answer: Answer, options: PipelineOptions) {
    this.#answer = answer
    this.#options = options
    this.#turns = options.turns
  }

  /** To be called with each request when it is begun. */
  begin({ method, socket }: IncomingMessage, res: ServerResponse): void {
    if (!safeMethods.has(method)) this.#writing.set(socket, res)
  }

  /** True: the request, which is behind one that is pending on its connection, is answered in a later turn. */
  defer(req: IncomingMessage, res: ServerResponse): boolean {
    const { socket } = req
    const waiting = this.#waiting.get(socket)
    if (waiting) {
      waiting.client.set(waiting.requests.push(hold(req, res)) * requestBytes)
      return true
    }
    const begun = this.#begun.get(socket) ?? 0
    const isOrdered = !safeMethods.has(req.method) || this.#writing.get(socket)?.closed === false
    if (!isOrdered && begun < maxBegun && eventLoopTurn.usedMs < maxBegunMs) {
      this.#begun.set(socket, begun + 1)
      res.once('close', () => this.#begun.set(socket, (this.#begun.get(socket) as number) - 1))
      return false
    }
    const queue: Queue = {
      requests: [hold(req, res)],
      client: this.#options.waiting.add(() => {
        this.#options.observe?.({ kind: 'clientDisconnected', limit: 'maxWaitingBytes' })
        socket.destroy()
      }),
    }
    this.#waiting.set(socket, queue)
    if (!this.#turns.wasStopped(socket)) {
      closeWithoutStacks(socket)
      socket.on('close', () => this.#waiting.get(socket)?.client.set(0))
    }
    this.#turns.stop(socket)
    this.#turns.holdOthers(socket)
    // A response has the socket once those before it are sent.
    const before = isOrdered ? new Promise((resolve) => res.once('socket', resolve)) : undefined
    void this.#answerInTurns(socket, queue, before)
    return true
  }

  async #answerInTurns(socket: Socket, { requests, client }: Queue, before?: Promise<unknown>): Promise<void> {
    if (before) await before
    let endTurn: (() => void) | undefined
    for (let next = requests[0]; next && !socket.destroyed; requests.shift(), next = requests[0]) {
      client.set(requests.length * requestBytes)
      if (endTurn === undefined && (requests.length > manyWaiting || eventLoopTurn.isUsed)) endTurn = await this.#turn()
      const { req, res } = next
      // Its body may be in the piece that is being read.
      if (!req.complete) await yieldToEventLoop()
      const answered = new Promise((resolve) => res.once('close', resolve))
      next.release()
      this.#answer(req, res)
      // It is the last that was read: the rest of its body is read before it is answered.
      if (!req.complete) break
      await answered
      if (!eventLoopTurn.isUsed) continue
      endTurn?.()
      endTurn = undefined
    }
    endTurn?.()
    client.set(0)
    this.#waiting.delete(socket)
    this.#turns.restart(socket)
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

/**
 * The service does not know a request that waits: when its client has disconnected, there is nothing to destroy. Node would
 * destroy thousands in one turn, each with the stack of an error as text.
 */
function hold(req: IncomingMessage, res: ServerResponse): Waiting {
  const { destroy: destroyRequest } = req
  const { destroy: destroyResponse } = res
  req.destroy = () => req
  res.destroy = () => res
  return {
    req,
    res,
    release() {
      req.destroy = destroyRequest
      res.destroy = destroyResponse
    },
  }
}

/**
 * When a connection closes, Node makes two errors for each of its requests, in one turn. The stacks of those that wait are read
 * by nothing, and take most of the time.
 */
function closeWithoutStacks(socket: Socket): void {
  let { stackTraceLimit } = Error
  socket.prependListener('close', () => {
    stackTraceLimit = Error.stackTraceLimit
    Error.stackTraceLimit = 0
  })
  socket.on('close', () => {
    Error.stackTraceLimit = stackTraceLimit
  })
}
