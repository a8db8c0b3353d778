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
  /** The memory budget of all connections. Requests that wait are counted in it. */
  readonly waiting: WaitingBytes
  readonly observe?: Observe | undefined
}

/** The waiting requests of one connection. */
interface Queue {
  readonly requests: Waiting[]
  readonly client: WaitingClient
}

interface Waiting {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Restores the request before it is answered. */
  release(): void
}

/**
 * How many requests of a connection may be begun before the first of them is answered. The database serves other clients, too.
 */
const maxBegun = 16
/**
 * Requests of a connection are begun during this time of a turn. To parse the rest of what it has sent takes milliseconds as
 * well.
 */
const maxBegunMs = 2
/** The memory that Node keeps for a short request that waits, and for its response. */
const requestBytes = 2_048
/** Connections with more waiting requests than this are answered one connection at a time. */
const manyWaiting = 100
/** If an answer takes longer than this, the next connection is answered meanwhile. */
const maxTurnMs = 100

/** Methods whose requests may be answered together with others of their connection. */
const safeMethods: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Limits pipelining. A client may send many requests in one piece, and Node reads all of them in one turn of the event loop. When
 * the time of the turn is used, or `maxBegun` requests are begun, the rest waits: each request begins when the one before it is
 * answered, and nothing more is read from the connection. A request that may write waits for those before it, and those after it
 * wait for it, so that writes are executed in the order in which they were sent.
 */
export class Pipelines {
  readonly #answer: Answer
  readonly #options: PipelineOptions
  readonly #turns: ReadingTurns
  readonly #waiting = new WeakMap<Socket, Queue>()
  /** The number of pipelined requests of a connection that were begun without waiting. */
  readonly #begun = new WeakMap<Socket, number>()
  /** The response to the latest request of a connection that may write. */
  readonly #writing = new WeakMap<Socket, ServerResponse>()
  #lastTurn: Promise<void> = Promise.resolve()

  constructor(answer: Answer, options: PipelineOptions) {
    this.#answer = answer
    this.#options = options
    this.#turns = options.turns
  }

  /** Called when a request is begun. */
  begin({ method, socket }: IncomingMessage, res: ServerResponse): void {
    if (!safeMethods.has(method)) this.#writing.set(socket, res)
  }

  /** Called for a request behind one that is not answered. Returns true if it waits and is answered in a later turn. */
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
    // A response gets the socket when those before it are sent.
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
      // The body may be in the chunk that is being parsed.
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
   * Waits until this connection is the only one that is answered, and resolves with a function that ends its turn. If the client
   * has disconnected, Node aborts all requests of the connection in one turn, so connections must not fail together.
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
 * Makes `destroy` of a waiting request and its response do nothing until it is released: the service has not begun it. Otherwise
 * Node would destroy thousands in one turn when the client disconnects, and create an error with a stack for each.
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
 * When a connection closes, Node creates two errors for each of its requests, in one turn. Nothing reads their stacks, which take
 * most of the time, so they are not captured.
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
