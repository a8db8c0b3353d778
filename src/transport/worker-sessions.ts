import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type ReadOptions, readBody } from './read-body.ts'
import type { WorkerChannel } from './worker-channel.ts'

/**
 * Sessions of long polling, where several worker processes share a port. A session belongs to the process that opened it,
 * and any request of its client may arrive at another process. Its connection is then given to the process that is named
 * in the id of the session, where the next requests on that connection arrive as well.
 */
export class WorkerSessions {
  readonly #channel: WorkerChannel

  constructor(channel: WorkerChannel) {
    this.#channel = channel
  }

  createId(): string {
    return `${this.#channel.id}.${randomUUID()}`
  }

  /** Undefined: the id names this process or none. */
  ownerOf(sid: string): SessionOwner | undefined {
    const worker = /^(\d{1,9})\./.exec(sid)?.[1]
    return worker === undefined || worker === this.#channel.id ? undefined : new SessionOwner(this.#channel, worker)
  }
}

/** Another worker process, as the owner of a session. */
export class SessionOwner {
  readonly #channel: WorkerChannel
  readonly #worker: string

  constructor(channel: WorkerChannel, worker: string) {
    this.#channel = channel
    this.#worker = worker
  }

  /** Reads data that has arrived while the handshake was waiting. */
  takeUpgrade(req: IncomingMessage, head: Uint8Array): void {
    const received = [head]
    // What has arrived since, where the handshake waited, is in the buffer of its connection.
    for (let chunk = req.socket.read(); chunk !== null; chunk = req.socket.read()) received.push(chunk)
    this.#take(req, Buffer.concat(received))
  }

  /**
   * A request whose body was read. One of a pipeline is refused: what is received with it is parsed already, and the
   * responses before it are not sent.
   */
  takeRequest(req: IncomingMessage, res: ServerResponse, body: Uint8Array, refusePipelined: () => void): void {
    // Run after everything that was received is parsed, and before more is received.
    process.nextTick(() => (isPipelined(req, res) ? refusePipelined() : this.#take(req, body)))
  }

  /** Reads the body first. */
  readRequest(req: IncomingMessage, res: ServerResponse, options: ReadOptions, refusePipelined: () => void): void {
    if (req.readableEnded) this.takeRequest(req, res, empty, refusePipelined)
    else
      readBody(
        req,
        options,
        (body) => this.takeRequest(req, res, body, refusePipelined),
        () => res.writeHead(413, { Connection: 'close' }).end(),
      )
  }

  #take(req: IncomingMessage, body: Uint8Array): void {
    this.#channel.send(this.#worker, req.socket as Socket, Buffer.concat([headOf(req, body.length), body]))
  }
}

const empty = new Uint8Array(0)

/** The parser of a connection, which `node:http` does not document. */
interface Parsed {
  readonly parser: {
    /** The last request whose headers were read. */
    readonly incoming: IncomingMessage | null
    /** An error where a part of a request was read. */
    finish(): Error | undefined
  } | null
}

function isPipelined(req: IncomingMessage, res: ServerResponse): boolean {
  const { parser, writableLength } = req.socket as Socket & Parsed
  if (res.socket === null || writableLength > 0) return true
  return parser !== null && (parser.incoming !== req || parser.finish() instanceof Error)
}

/** These describe how a body was sent. It is passed on as a whole. */
const bodyHeaders = /^(?:content-length|transfer-encoding|expect)$/i

function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage, bodyLength: number): Buffer {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (!bodyHeaders.test(name)) head += `${name}: ${rawHeaders[index + 1]}\r\n`
  }
  if (method === 'POST') head += `Content-Length: ${bodyLength}\r\n`
  return Buffer.from(`${head}\r\n`, 'latin1')
}
