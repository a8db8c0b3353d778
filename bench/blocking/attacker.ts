/** A program that sends hostile requests of one kind, several at a time, until it is stopped. */

import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { io } from 'socket.io-client'
import { moveProcess } from './apart.ts'
import type { HostileRequest } from './hostile/hostile.ts'
import { hostileRequests } from './hostile/requests.ts'
import { hostileNice, setPriorityOfSession } from './scheduled.ts'

export interface Attack {
  readonly name: string
  readonly port: number
  /** The port of the service with access rules. */
  readonly ruledPort: number
  /** The number of requests that are sent at a time. */
  readonly concurrency: number
  readonly position: string
  readonly isApart: boolean
}

const attack = JSON.parse(process.argv[2] as string) as Attack
const { name, concurrency, isApart } = attack
/** How long a stream is read. */
const streamMs = 500
const hostile = hostileRequests.find((known) => known.name === name)
if (!hostile) throw new Error(`There is no hostile request "${name}"`)
const port = hostile.isRuled ? attack.ruledPort : attack.port

setPriorityOfSession(hostileNice)
if (isApart) moveProcess()

const statuses = new Map<number, number>()
const count = (status: number): void => void statuses.set(status, (statuses.get(status) ?? 0) + 1)
process.on('disconnect', () => process.exit())
process.on('message', (message) => (message === 'stop' ? process.exit() : process.send?.([...statuses])))
process.send?.('ready')

/** A session of long polling needs two connections: it sends and reads at the same time. */
const agent = new Agent({ keepAlive: true, maxSockets: hostile.over === 'polling' ? 2 * concurrency : concurrency })

const overHttp = ({ method, path, body, text = JSON.stringify(body), headers }: HostileRequest): Promise<void> =>
  new Promise((resolve) => {
    const type = text ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) } : {}
    const sent = request(
      { agent, port, host: '127.0.0.1', method, path, headers: { ...type, ...headers } },
      (response) => {
        count(response.statusCode ?? 0)
        response.on('error', () => resolve())
        response.resume().on('end', resolve)
        if (hostile?.over === 'stream' && response.statusCode === 200) setTimeout(() => response.destroy(), streamMs)
      },
    )
    sent.on('error', () => {
      count(0)
      resolve()
    })
    sent.end(text)
  })

const socket =
  hostile.over === 'socket'
    ? io(`http://127.0.0.1:${port}`, { transports: ['websocket'], query: { __sails_io_sdk_version: '1.2.1' } })
    : undefined

const overSocket = (
  client: NonNullable<typeof socket>,
  { method, path, body, headers }: HostileRequest,
): Promise<void> =>
  new Promise((resolve) => {
    client.emit(method.toLowerCase(), { method, url: path, data: body, headers }, (answer: { statusCode?: number }) => {
      count(answer?.statusCode ?? 0)
      resolve()
    })
  })

/** Writes the bytes and reads until nothing more is received. Counts the chunks that begin with a response. */
async function asBytes({ text = '', then }: HostileRequest): Promise<void> {
  const connections = await Promise.all(Array.from({ length: hostile?.connections ?? 1 }, opened))
  const answered = connections.map((connection) => next(connection, 'data'))
  for (const connection of connections) connection.write(text, 'latin1')
  if (hostile?.leavesAfterMs !== undefined)
    setTimeout(() => connections.map((connection) => connection.resetAndDestroy()), hostile.leavesAfterMs)
  await Promise.all(answered)
  if (then !== undefined) for (const connection of connections) connection.write(then, 'latin1')
  await Promise.all(connections.map((connection) => next(connection, 'close')))
}

async function opened(): Promise<Socket> {
  const connection = connect(port, '127.0.0.1').on('error', () => {})
  connection.on('data', (chunk) => {
    const status = /^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1', 0, 12))?.[1]
    if (status) count(Number(status))
  })
  await next(connection, 'connect')
  return connection.setTimeout(streamMs, () => connection.destroy())
}

/** The position of the first rows of a stream. */
async function positionOf(text: string): Promise<string> {
  const stream = connect(port, '127.0.0.1')
  stream.write(text, 'latin1')
  let received = ''
  for await (const chunk of stream) {
    received += chunk
    const found = /event: rows\nid: (.*)\n/.exec(received)?.[1]
    if (found !== undefined) return found
  }
  throw new Error(`The stream has no rows: ${received}`)
}

/** Resolves with the event, or once the connection is closed. */
const next = (connection: Socket, event: string): Promise<void> =>
  new Promise((resolve) => {
    if (connection.closed) resolve()
    else connection.once(event, () => resolve()).once('close', () => resolve())
  })

const byPolling = async (posted: HostileRequest): Promise<void> => {
  const path = '/socket.io/?EIO=3&transport=polling'
  const opened = await fetch(`http://127.0.0.1:${port}${path}`).then((response) => response.text())
  const sid = /"sid":"([^"]+)"/.exec(opened)?.[1]
  let isAnswered = false
  const answered = overHttp({ ...posted, path: `${path}&sid=${sid}` }).then(() => {
    isAnswered = true
  })
  // A message waits until the answers to those before it are read.
  for (let left = hostile?.polls ?? 0; !isAnswered || left > 0; left--) {
    const read = overHttp({ method: 'GET', path: `${path}&sid=${sid}` })
    await (left > 0 ? read : Promise.race([answered, read]))
  }
}

let sent = 0
const position = hostile.resumes === undefined ? attack.position : await positionOf(hostile.resumes)
const loops = hostile.connections === undefined ? concurrency : 1
for (let index = 0; index < loops; index++) void repeat()

async function repeat(): Promise<void> {
  for (;;) {
    const next = hostile?.request(sent++, position) as HostileRequest
    if (socket) await overSocket(socket, next)
    else if (hostile?.over === 'bytes') await asBytes(next)
    else if (hostile?.over === 'polling') await byPolling(next)
    else await overHttp(next)
  }
}
