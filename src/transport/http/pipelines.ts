import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { Observe } from '../../support/observation.ts'
import type { WaitingBytes, WaitingClient } from '../../support/waiting-bytes.ts'
import { yieldToEventLoop } from '../../support/yield-to-event-loop.ts'
import type { Connections } from './connections.ts'

type Answer = (req: IncomingMessage, res: ServerResponse) => void

export interface PipelineOptions {
  /** Of the server whose requests these are. */
  readonly connections?: Connections | undefined
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
/** In bytes: Node calls a function of a stream for each, and runs what waits for the next tick. */
const smallChunk = 1024
/** In bytes: so many small chunks are one piece. */
const pieceBytes = 16_384
/** So many chunks of a body take less than a millisecond. */
const chunksAtOnce = 256
/** Connections on which more requests wait have turns: one of them is answered at a time. */
const manyWaiting = 100
/** A connection whose answer takes longer than this lets the next one have its turn. */
const maxTurnMs = 100

const none: ReadonlySet<Socket> = new Set()

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
  readonly #connections: Connections | undefined
  readonly #waiting = new WeakMap<Socket, Queue>()
  /** Behind the one that is pending, those that did not have to wait. */
  readonly #begun = new WeakMap<Socket, number>()
  /** The response to the latest request of a connection that may write. */
  readonly #writing = new WeakMap<Socket, ServerResponse>()
  /** Connections on which requests have waited. */
  readonly #pipelined = new WeakSet<Socket>()
  /** Connections that are not read in this turn, and those of the turn before. */
  #held = new Set<Socket>()
  #due = none
  /** Connections of which what is read takes as long as many requests: one of them is read in each turn. */
  readonly #readAlone = new Set<Socket>()
  /** Connections that have sent bodies in small chunks. */
  readonly #chunked = new WeakSet<Socket>()
  #isEndScheduled = false
  /** Of those that were held, the ones that wait for answers or have pipelined: they may send as much as the one that used the turn. */
  readonly #unanswered: Socket[] = []
  #isResumeScheduled = false
  #lastTurn: Promise<void> = Promise.resolve()

  constructor(answer: Answer, options: PipelineOptions) {
    this.#answer = answer
    this.#options = options
    this.#connections = options.connections
  }

  /** To be called with each request when it is begun. */
  begin({ method, socket }: IncomingMessage, res: ServerResponse): void {
    if (!safeMethods.has(method)) this.#writing.set(socket, res)
  }

  /** What others have sent is read in the next turn when the requests of many connections, which arrived together, have used this one. */
  endUsedTurn(socket: Socket): void {
    if (eventLoopTurn.isUsed) this.#holdOthers(socket)
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
    // Node resumes the connection after each response.
    socket.pause().on('resume', pause)
    if (!this.#pipelined.has(socket)) {
      closeWithoutStacks(socket)
      socket.on('close', () => this.#waiting.get(socket)?.client.set(0))
    }
    this.#pipelined.add(socket)
    this.#holdOthers(socket)
    // A response has the socket once those before it are sent.
    const before = isOrdered ? new Promise((resolve) => res.once('socket', resolve)) : undefined
    void this.#answerInTurns(socket, queue, before)
    return true
  }

  /**
   * Of a body in chunks, of which a piece of 64 kB may hold 10,000, the small ones of a turn are read as one. What others have sent, and the
   * rest of the body, is read in the next turn when they have used this one: the system gives up to 32 pieces in a turn. More than
   * `maxChunks` are refused, and nothing more is read.
   */
  readInTurns(req: IncomingMessage, maxChunks: number, refuse: () => void): void {
    const { push, socket } = req
    // Copies: thousands of small buffers that are kept take longer to be collected than to be read.
    let piece: Buffer | undefined
    let length = 0
    let chunks = 0
    const flush = (): void => {
      const bytes = piece?.subarray(0, length)
      piece = undefined
      length = 0
      if (bytes && !req.destroyed && !push.call(req, bytes)) socket.pause()
    }
    req.push = (chunk: Uint8Array | null, encoding) => {
      if (chunk === null || chunk.length > smallChunk || length + chunk.length > pieceBytes) flush()
      if (chunk === null || chunk.length > smallChunk) return push.call(req, chunk, encoding)
      if (piece === undefined) {
        piece = Buffer.allocUnsafe(pieceBytes)
        setImmediate(flush)
      }
      piece.set(chunk, length)
      length += chunk.length
      if (++chunks > maxChunks) {
        piece = undefined
        req.push = () => true
        socket.pause().on('resume', pause)
        refuse()
        return true
      }
      if (chunks % chunksAtOnce > 0 || this.#readAlone.has(socket)) return true
      // What is left of the piece is read in any case.
      if (!this.#chunked.has(socket) && !eventLoopTurn.isUsed) return true
      this.#chunked.add(socket)
      this.#holdOthers(socket)
      this.#waitForTurn(socket)
      return true
    }
  }

  /**
   * What other connections have received is read in the next turn: each may have received as many requests. What is held then has been
   * held once, and is read before it is held again: otherwise each connection that is opened meanwhile would be read before it.
   */
  #holdOthers(reader: Socket): void {
    if (this.#due.has(reader)) this.#due = none
    else if (this.#held.size > 0) return
    for (const { socket, upgraded } of this.#connections?.open.values() ?? [])
      if (
        !upgraded &&
        !this.#waiting.has(socket) &&
        !this.#readAlone.has(socket) &&
        !this.#due.has(socket) &&
        !socket.isPaused()
      )
        this.#held.add(socket.pause())
    this.#scheduleEnd()
  }

  #scheduleEnd(): void {
    if (this.#isEndScheduled) return
    this.#isEndScheduled = true
    setImmediate(this.#endTurn)
  }

  /**
   * The connections are read in the order in which they are resumed: at once, those that have sent one request at a time and have their
   * answers; once these are answered, those that may send as much as the one that has used the turn, and one of those that are read alone.
   */
  readonly #endTurn = (): void => {
    this.#isEndScheduled = false
    const held = this.#held
    this.#held = new Set()
    const answered: Socket[] = []
    for (const socket of held)
      if (this.#chunked.has(socket)) this.#waitForTurn(socket)
      else if (this.#sendsOneAtATime(socket)) answered.push(socket)
      else this.#unanswered.push(socket)
    this.#resume(answered)
    if (this.#isResumeScheduled || this.#unanswered.length + this.#readAlone.size === 0) return
    this.#isResumeScheduled = true
    void eventLoopTurn.nextFirst().then(() => this.#resumeLong())
  }

  #sendsOneAtATime(socket: Socket): boolean {
    return !this.#pipelined.has(socket) && this.#connections?.get(socket)?.latest?.closed === true
  }

  /** Node resumes a connection when a body is read, and after each response. */
  #waitForTurn(socket: Socket): void {
    if (this.#readAlone.has(socket)) return
    this.#readAlone.add(socket)
    socket.pause().on('resume', pause)
    this.#scheduleEnd()
  }

  #resumeLong(): void {
    this.#isResumeScheduled = false
    this.#resume(this.#unanswered.splice(0))
    for (const socket of this.#readAlone) {
      this.#readAlone.delete(socket)
      socket.off('resume', pause).resume()
      break
    }
    if (this.#readAlone.size > 0) this.#scheduleEnd()
  }

  #resume(sockets: readonly Socket[]): void {
    this.#due = new Set(sockets)
    for (const socket of sockets) socket.resume()
    if (sockets.length > 0) this.#scheduleEnd()
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
    socket.off('resume', pause)
    this.#waitForTurn(socket)
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

/** A connection that was paused after it was resumed, but before it emits this, would be read: pausing it again emits nothing. */
function pause(this: Socket): void {
  if (this.isPaused()) this.emit('pause')
  else this.pause()
}
