import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import type { Child } from '../child.ts'
import { print } from '../print.ts'
import type { HostileRequest } from './hostile/hostile.ts'
import { hostileRequests } from './hostile/requests.ts'
import { malformed } from './malformed.ts'

const requestCount = 100_000
/**
 * One request of this many is one of those that block; the others cost little, so that the run ends in some minutes. Among
 * the first 10,000 is one of each kind, so that the memory which the allocator keeps of it does not count as growth.
 */
const expensiveShare = (n: number): number => (n < printedEvery ? Math.floor(printedEvery / overHttp.length) : 400)
/** One of this many opens an event stream, and one a socket; both are cut off. */
const connectionShare = 200
const concurrency = 16
const printedEvery = 10_000
/** By how much memory may grow after the first of the requests, which fill caches. */
const aimMb = 100

interface Memory {
  readonly rss: number
  readonly heapUsed: number
  readonly external: number
}

const overHttp = hostileRequests.filter(({ over, isRuled }) => over === undefined && !isRuled)

/** Sends mixed hostile requests, and prints what memory the server has after a garbage collection. */
export async function memory(kind: string, server: Child, port: number): Promise<void> {
  print(
    `\n${kind}: memory of the server over ${requestCount} mixed hostile requests, in MB, after a garbage collection`,
  )
  print(['requests', 'rss', 'heap', 'external'].map((title) => title.padStart(10)).join(''))
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency })
  const statuses = new Map<number, number>()
  const measured: Memory[] = []
  const report = async (sent: number) => {
    const memory = (await server.ask('memory')) as Memory
    measured.push(memory)
    const figures = [memory.rss, memory.heapUsed, memory.external].map((bytes) => (bytes / 1e6).toFixed(0))
    print([String(sent), ...figures].map((figure) => figure.padStart(10)).join(''))
  }
  await report(0)
  for (let sent = 0; sent < requestCount; sent += printedEvery) {
    let next = sent
    const repeat = async () => {
      while (next < sent + printedEvery) {
        const status = await send(next++, port, agent)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, repeat))
    await report(sent + printedEvery)
  }
  agent.destroy()
  const [, first] = measured as [Memory, Memory]
  const growth = Math.max(...measured.slice(1).map(({ rss }) => rss - first.rss)) / 1e6
  const answered = [...statuses].sort().map(([status, count]) => `${count} × ${status}`)
  print(
    `growth after the first ${printedEvery}: ${growth.toFixed(0)} MB${growth > aimMb ? ', above the aim' : ''}; ${answered.join(', ')}`,
  )
}

function send(n: number, port: number, agent: Agent): Promise<number> {
  if (n % connectionShare === 1) return cutOff(port, '/pet', 'text/event-stream')
  if (n % connectionShare === 2) return cutOff(port, '/socket.io/?EIO=4&transport=polling', '*/*')
  const share = expensiveShare(n)
  const expensive = overHttp[Math.floor(n / share) % overHttp.length]
  return n % share === 0 && expensive
    ? answer(expensive.request(n, ''), port, agent)
    : answer(malformed(n), port, agent)
}

function answer(
  { method, path, body, text = JSON.stringify(body), headers }: HostileRequest,
  port: number,
  agent: Agent,
): Promise<number> {
  const type = text ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) } : {}
  return new Promise((resolve) => {
    const sent = request(
      { agent, port, host: '127.0.0.1', method, path, headers: { ...type, ...headers } },
      (response) => {
        response.on('error', () => resolve(0))
        response.resume().on('end', () => resolve(response.statusCode ?? 0))
      },
    )
    sent.on('error', () => resolve(0))
    sent.end(text)
  })
}

/** Reads the beginning of the answer and cuts the connection off. */
function cutOff(port: number, path: string, accept: string): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: ${accept}\r\n\r\n`)
    socket.on('error', () => resolve(0))
    socket.once('data', (chunk: Buffer) => {
      socket.destroy()
      resolve(Number(chunk.toString('latin1').slice(9, 12)))
    })
    socket.on('close', () => resolve(0))
  })
}
