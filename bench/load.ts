import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { BenchRequest } from './cases.ts'

/*
 * The load: a process of its own that keeps connections busy, one request at a time on each, and counts the responses. It parses
 * just enough HTTP to find the end of a response, so that it is never slower than what it measures.
 */

export interface LoadOrder {
  readonly port: number
  /** Sent one after another, from the first one again after the last. */
  readonly requests: readonly BenchRequest[]
  readonly connections: number
  readonly seconds: number
  /** Requests per second. Without it each connection sends its next request at once. */
  readonly rate?: number
}

export interface LoadResult {
  readonly answers: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const headEnd = Buffer.from('\r\n\r\n')

/** One connection; it sends a request when the one before is answered. */
class Connection {
  readonly #socket: Socket
  readonly #answers = new AnswerReader()
  #answered: (() => void) | undefined

  private constructor(socket: Socket, reject: (error: unknown) => void) {
    this.#socket = socket
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('The server closed a connection')))
    socket.on('data', (chunk: Buffer) => {
      try {
        if (this.#answers.isWhole(chunk)) this.#answered?.()
      } catch (error) {
        reject(error)
        socket.destroy()
      }
    })
  }

  static async open(port: number, reject: (error: unknown) => void): Promise<Connection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    return new Connection(socket, reject)
  }

  send(message: Buffer, answered: () => void): void {
    this.#answered = answered
    this.#socket.write(message)
  }

  close(): void {
    this.#socket.removeAllListeners('close')
    this.#socket.destroy()
  }
}

/** All connections are busy until the time is over. */
function atFullLoad(connections: readonly Connection[], next: () => Buffer, seconds: number): Promise<number[]> {
  const latencies: number[] = []
  const deadline = performance.now() + seconds * 1000
  const keepBusy = (connection: Connection): Promise<void> =>
    new Promise((resolve) => {
      const ask = (): void => {
        const sentAt = performance.now()
        connection.send(next(), () => {
          const now = performance.now()
          latencies.push(now - sentAt)
          if (now < deadline) ask()
          else resolve()
        })
      }
      ask()
    })
  return Promise.all(connections.map(keepBusy)).then(() => latencies)
}

/**
 * Requests at equal distances of time. What a request waits for a free connection is part of its latency: otherwise a
 * server that stops for a while would delay the requests that show it.
 */
function atRate(
  connections: readonly Connection[],
  next: () => Buffer,
  seconds: number,
  rate: number,
): Promise<number[]> {
  const latencies: number[] = []
  const free = [...connections]
  const startedAt = performance.now()
  const count = Math.round(seconds * rate)
  const dueAt = (index: number): number => startedAt + (index * 1000) / rate
  let sent = 0
  return new Promise((resolve) => {
    const send = (): void => {
      for (let connection = free.at(-1); connection && sent < count; connection = free.at(-1)) {
        const due = dueAt(sent)
        if (due > performance.now()) break
        sent++
        free.pop()
        const used = connection
        used.send(next(), () => {
          latencies.push(performance.now() - due)
          free.push(used)
          if (latencies.length === count) resolve(latencies)
          else send()
        })
      }
      if (sent < count && free.length > 0) setTimeout(send, 1)
    }
    send()
  })
}

function resultOf(latencies: readonly number[]): LoadResult {
  const sorted = Float64Array.from(latencies).sort()
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  return { answers: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99) }
}

/** Finds the end of an answer by its content-length; anything but a success ends the run. */
export class AnswerReader {
  #head: Buffer | undefined
  #missing = 0

  /** True when the chunk ends the answer. */
  isWhole(chunk: Buffer): boolean {
    if (this.#missing > 0) {
      this.#missing -= chunk.length
    } else {
      const head = this.#head ? Buffer.concat([this.#head, chunk]) : chunk
      const end = head.indexOf(headEnd)
      this.#head = end === -1 ? head : undefined
      if (end === -1) return false
      const text = head.toString('latin1', 0, end)
      const length = text.startsWith('304', 9) ? ['', '0'] : /\r\ncontent-length: (\d+)/i.exec(text)
      if ((text[9] !== '2' && !text.startsWith('304', 9)) || !length)
        throw new Error(`Unexpected response:\n${head.toString('latin1', 0, 1000)}`)
      this.#missing = end + headEnd.length + Number(length[1]) - head.length
    }
    if (this.#missing < 0) throw new Error('The response is longer than its Content-Length')
    return this.#missing === 0
  }
}

export function messageOf({ method, target, body, tag }: BenchRequest): Buffer {
  const known = tag === undefined ? '' : `If-None-Match: ${tag}\r\n`
  const head = `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n${known}`
  if (body === undefined) return Buffer.from(`${head}\r\n`)
  const length = Buffer.byteLength(body)
  return Buffer.from(`${head}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`)
}

function run({ port, requests, connections, seconds, rate }: LoadOrder): Promise<LoadResult> {
  const messages = requests.map(messageOf)
  let index = 0
  const next = (): Buffer => messages[index++ % messages.length] as Buffer
  return new Promise((resolve, reject) => {
    const load = async (): Promise<LoadResult> => {
      const opened = await Promise.all(Array.from({ length: connections }, () => Connection.open(port, reject)))
      const latencies = await (rate === undefined
        ? atFullLoad(opened, next, seconds)
        : atRate(opened, next, seconds, rate))
      for (const connection of opened) connection.close()
      return resultOf(latencies)
    }
    load().then(resolve, reject)
  })
}

if (import.meta.main) {
  process.on('message', (order: LoadOrder | 'stop') => {
    if (order === 'stop') process.exit()
    run(order).then(
      (result) => process.send?.({ result }),
      (error: unknown) => process.send?.({ failure: String(error) }),
    )
  })
  process.on('disconnect', () => process.exit())
  process.send?.('ready')
}
