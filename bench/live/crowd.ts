import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BenchRequest } from '../cases.ts'
import { AnswerReader, messageOf } from '../load.ts'
import { openRawSocket, type RawSocket } from './raw-socket.ts'

/*
 * A process with many subscribed sockets, which also sends the request that causes the events.
 */

/** Adds sockets. Each requests one of the addresses in turn and stays subscribed; without addresses it only connects. */
interface Enter {
  readonly kind: 'enter'
  readonly port: number
  readonly protocol: 'socket.io' | 'none'
  readonly count: number
  readonly addresses?: readonly string[]
}

interface Leave {
  readonly kind: 'leave'
}

/** Sends `times` requests in turn, each after every socket has received the event of the previous one. */
interface Cause {
  readonly kind: 'cause'
  readonly port: number
  readonly requests: readonly BenchRequest[]
  readonly times: number
  readonly pauseMs: number
}

export type CrowdOrder = Enter | Leave | Cause

/** Milliseconds since the request was sent. */
export interface Delivery {
  readonly answeredMs: number
  /** Until the last socket received the event. */
  readonly receivedMs: number
}

export interface Caused {
  readonly deliveries: readonly Delivery[]
  /** The last frame, which is identical for all sockets. */
  readonly frame: string
}

const enteringAtOnce = 100
/** An event must arrive within this time. */
const timeoutMs = 30_000

const listeners: RawSocket[] = []
let onFrame: (frame: Buffer) => void = () => {}

async function enter({ port, protocol, count, addresses = [] }: Enter): Promise<void> {
  for (let entered = 0; entered < count; entered += enteringAtOnce) {
    const some = Array.from({ length: Math.min(enteringAtOnce, count - entered) }, (_, index) =>
      protocol === 'none'
        ? openRawSocket(port, '/', (frame) => onFrame(frame))
        : openSocketIo(port, addresses[(entered + index) % addresses.length]),
    )
    listeners.push(...(await Promise.all(some)))
  }
}

/** Connects with Engine.IO protocol 4. */
async function openSocketIo(port: number, address: string | undefined): Promise<RawSocket> {
  const served = Promise.withResolvers<void>()
  const socket = await openRawSocket(port, '/socket.io/?EIO=4&transport=websocket', (frame, start, socket) => {
    const kind = frame.toString('latin1', start, start + 2)
    if (kind === '42') onFrame(frame)
    else if (kind === '2') socket.send('3')
    else if (kind.startsWith('0')) socket.send('40')
    else if (kind === '40' && address === undefined) served.resolve()
    else if (kind === '40') socket.send(`420["get",{"url":"${address}"}]`)
    else if (kind === '43' && frame.includes('"statusCode":200}]')) served.resolve()
    else served.reject(new Error(`Not expected: ${frame.toString('latin1', start, 500)}`))
  })
  await served.promise
  return socket
}

function leave(): void {
  for (const socket of listeners.splice(0)) socket.destroy()
}

async function cause({ port, requests, times, pauseMs }: Cause): Promise<Caused> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const messages = requests.map(messageOf)
  const deliveries: Delivery[] = []
  let frame = ''
  for (let time = 0; time < times; time++) {
    await sleep(pauseMs)
    const received = allReceive()
    const answer = new AnswerReader()
    const answered = new Promise<number>((resolve) =>
      socket.on('data', function read(chunk: Buffer) {
        if (!answer.isWhole(chunk)) return
        socket.off('data', read)
        resolve(performance.now())
      }),
    )
    const begunAt = performance.now()
    socket.write(messages[time % messages.length] as Buffer)
    const [answeredAt, last] = await Promise.all([answered, received])
    deliveries.push({ answeredMs: answeredAt - begunAt, receivedMs: last.at - begunAt })
    frame = last.frame
  }
  socket.destroy()
  return { deliveries, frame }
}

/** Rejects when a socket receives another frame than the others, or none. */
function allReceive(): Promise<{ readonly at: number; readonly frame: string }> {
  return new Promise((resolve, reject) => {
    const missing = (): void =>
      reject(new Error(`Only ${received} of ${listeners.length} listeners received it within ${timeoutMs} ms`))
    const timer = setTimeout(missing, timeoutMs)
    let received = 0
    let first: Buffer | undefined
    onFrame = (frame) => {
      first ??= Buffer.from(frame)
      if (!first.equals(frame)) reject(new Error(`${frame} is not ${first}`))
      if (++received < listeners.length) return
      resolve({ at: performance.now(), frame: first.toString('latin1') })
      clearTimeout(timer)
    }
  })
}

const run = async (order: CrowdOrder): Promise<unknown> =>
  order.kind === 'enter' ? enter(order) : order.kind === 'leave' ? leave() : cause(order)

process.on('message', (order: CrowdOrder) => {
  run(order).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ failure: String(error) }),
  )
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
