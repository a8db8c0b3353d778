import { connect, type Socket } from 'node:net'
import { type BenchRequest, requestsOf } from './cases.ts'

/*
 * The load: a process of its own that keeps connections busy, one request at a time on each, and counts what comes
 * back. It knows just enough HTTP to find the end of an answer, so that it is never slower than what it measures.
 */

export interface LoadOrder {
  readonly port: number
  readonly name: string
  readonly cursor: string
  readonly connections: number
  readonly seconds: number
}

export interface LoadResult {
  readonly answers: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const distinctRequests = 4096
const headEnd = Buffer.from('\r\n\r\n')

class Load {
  readonly #messages: readonly Buffer[]
  readonly #latencies: number[] = []
  readonly #deadline: number
  #next = 0

  constructor(messages: readonly Buffer[], seconds: number) {
    this.#messages = messages
    this.#deadline = performance.now() + seconds * 1000
  }

  /** Asks until the time is over, and resolves with the last answer. */
  keepBusy(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      const answers = new AnswerReader()
      let sentAt = 0
      const ask = (): void => {
        sentAt = performance.now()
        socket.write(this.#messages[this.#next++ % this.#messages.length] as Buffer)
      }
      socket.on('connect', ask)
      socket.on('error', reject)
      socket.on('close', () => reject(new Error('The server closed a connection')))
      socket.on('data', (chunk: Buffer) => {
        try {
          if (!answers.isWhole(chunk)) return
        } catch (error) {
          return fail(socket, error, reject)
        }
        const now = performance.now()
        this.#latencies.push(now - sentAt)
        if (now < this.#deadline) return ask()
        resolve()
        socket.destroy()
      })
    })
  }

  result(): LoadResult {
    const sorted = Float64Array.from(this.#latencies).sort()
    const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
    return { answers: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99) }
  }
}

function fail(socket: Socket, error: unknown, reject: (error: unknown) => void): void {
  reject(error)
  socket.destroy()
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
      const length = /\r\ncontent-length: (\d+)/i.exec(text)
      if (text[9] !== '2' || !length)
        throw new Error(`An answer that was not expected:\n${head.toString('latin1', 0, 1000)}`)
      this.#missing = end + headEnd.length + Number(length[1]) - head.length
    }
    if (this.#missing < 0) throw new Error('More came back than was asked for')
    return this.#missing === 0
  }
}

export function messageOf({ method, target, body }: BenchRequest): Buffer {
  const head = `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n`
  if (body === undefined) return Buffer.from(`${head}\r\n`)
  const length = Buffer.byteLength(body)
  return Buffer.from(`${head}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`)
}

async function run({ port, name, cursor, connections, seconds }: LoadOrder): Promise<LoadResult> {
  const load = new Load(requestsOf(name, cursor, distinctRequests).map(messageOf), seconds)
  await Promise.all(Array.from({ length: connections }, () => load.keepBusy(port)))
  return load.result()
}

if (import.meta.main) {
  process.on('message', (order: LoadOrder) => {
    run(order).then(
      (result) => process.send?.({ result }),
      (error: unknown) => process.send?.({ failure: String(error) }),
    )
  })
  process.on('disconnect', () => process.exit())
  process.send?.('ready')
}
