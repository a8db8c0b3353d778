import { createRequire } from 'node:module'
import { io } from 'socket.io-client'
import { WebSocket } from 'ws'

interface OldClient {
  on(event: string, listener: (value: unknown) => void): OldClient
  close(): void
}

const connect: (url: string, options: object) => OldClient = createRequire(import.meta.url)('socket.io-client-2')

/*
 * A process with many clients that only stay connected, with the headers that a browser sends.
 */

export const clientKinds = ['ws', 'websocket', 'upgraded'] as const
export type ClientKind = (typeof clientKinds)[number]

export interface Enter {
  readonly kind: ClientKind
  readonly port: number
  readonly count: number
}

const enteringAtOnce = 50

const headersOf = (port: number): Readonly<Record<string, string>> => ({
  Origin: `http://127.0.0.1:${port}`,
  'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Accept-Language': 'en-US,en;q=0.9,nb;q=0.8',
  'Accept-Encoding': 'gzip, deflate, br, zstd',
  'Cache-Control': 'no-cache',
  Pragma: 'no-cache',
  Cookie: `sails.sid=${crypto.randomUUID()}${crypto.randomUUID()}`,
})

/** Disconnect the clients. */
const closers: (() => void)[] = []

/** Connect a client; each promise resolves with a function that disconnects it. */
const clients: Readonly<Record<ClientKind, (port: number) => Promise<() => void>>> = {
  ws: (port) =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers: headersOf(port) })
      socket.on('open', () => resolve(() => socket.terminate())).on('error', reject)
    }),
  // As sails.io.js 1.2, which contains this client and selects this transport.
  websocket: (port) =>
    new Promise((resolve, reject) => {
      const socket = connect(`http://127.0.0.1:${port}`, {
        forceNew: true,
        reconnection: false,
        transports: ['websocket'],
        query: {
          __sails_io_sdk_version: '1.2.1',
          __sails_io_sdk_platform: 'browser',
          __sails_io_sdk_language: 'javascript',
        },
        transportOptions: { websocket: { extraHeaders: headersOf(port) } },
      })
      socket.on('connect', () => resolve(() => socket.close())).on('connect_error', reject)
    }),
  // As io(url): long polling, and then the upgrade to a WebSocket.
  upgraded: (port) =>
    new Promise((resolve, reject) => {
      const options = { forceNew: true, reconnection: false, extraHeaders: headersOf(port) }
      const socket = io(`http://127.0.0.1:${port}`, options)
      socket.on('connect_error', reject)
      socket.io.engine.on('upgrade', () => resolve(() => socket.close()))
    }),
}

async function run(order: Enter | 'leave'): Promise<void> {
  if (order !== 'leave') return enter(order)
  for (const close of closers.splice(0)) close()
}

async function enter({ kind, port, count }: Enter): Promise<void> {
  for (let begun = 0; begun < count; begun += enteringAtOnce) {
    const some = Array.from({ length: Math.min(enteringAtOnce, count - begun) }, () => clients[kind](port))
    closers.push(...(await Promise.all(some)))
  }
}

process.on('message', (order: Enter | 'leave' | 'stop') => {
  if (order === 'stop') process.exit()
  run(order).then(
    () => process.send?.('done'),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`)
      process.exit(1)
    },
  )
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
