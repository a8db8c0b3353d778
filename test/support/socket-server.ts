import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { Event, Peer } from '../../src/protocol/event.ts'
import type { LiveService, ServiceRequest, ServiceResponse } from '../../src/protocol/request.ts'
import { defaultLimits, type Limits } from '../../src/support/limits.ts'
import { type SocketOptions, type SocketServer, serveSockets } from '../../src/transport/socket/serve-sockets.ts'

export type Handle = (request: ServiceRequest) => ServiceResponse | Promise<ServiceResponse>

export const echo: Handle = ({ method, path, query, body }) => ({
  status: 200,
  headers: {},
  body: { method, path, query, body: body ?? null },
})

interface Options extends Partial<Omit<SocketOptions, 'limits'>> {
  readonly limits?: Partial<Limits>
  readonly handle?: Handle
  readonly connect?: (peer: Peer) => Disposable
}

/** A socket server in front of a service whose handler the test provides. */
export async function startSockets({ limits, handle = echo, connect, ...options }: Options = {}) {
  const peers = new Set<Peer>()
  const reported: unknown[] = []
  const service: LiveService = {
    handle,
    connect:
      connect ??
      ((peer) => {
        peers.add(peer)
        return { [Symbol.dispose]: () => void peers.delete(peer) }
      }),
  }
  const sockets = serveSockets(service, {
    onError: (error) => reported.push(error),
    ...options,
    limits: { ...defaultLimits, ...limits },
  })
  const server = createServer({ optimizeEmptyRequests: true }, (req, res) => {
    if (!sockets.request(req, res)) res.writeHead(404).end('{}')
  })
  server.on('upgrade', (req, socket, head) => {
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // A client may disconnect in any way; writing after the server's own closing frame is a defect.
      if (error.code === 'ERR_STREAM_WRITE_AFTER_END') reported.push(error)
    })
    if (!sockets.upgrade(req, socket, head))
      socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    sockets,
    peers,
    reported,
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await sockets.stop()
      assert.deepEqual(reported, [])
    },
  }
}

/** A handler whose responses are released by the test. */
export function pausedHandler() {
  const requested: string[] = []
  const responses = new Map<string, () => void>()
  const handle: Handle = (request) => {
    requested.push(request.path)
    return new Promise((resolve) => responses.set(request.path, () => resolve(echo(request))))
  }
  return { requested, respond: (path: string) => responses.get(path)?.(), handle }
}

export const created = (id: number, text = 'Rex'): Event => ({
  verb: 'created',
  model: 'pet',
  id,
  data: { id, name: text },
})

export const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await turn()
}

export const allClosed = (sockets: SocketServer): Promise<void> => until(() => sockets.size === 0)
export const onlyPeer = (peers: ReadonlySet<Peer>): Peer => [...peers][0] as Peer
