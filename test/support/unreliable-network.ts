import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy that can cut, close, swallow and stall connections. */
export interface UnreliableNetwork extends AsyncDisposable {
  /** The address of the server through the proxy. */
  readonly url: string
  /** Ends every connection; new connections are accepted. */
  cut(): void
  /** Ends every connection and refuses new ones. */
  close(): Promise<void>
  open(): Promise<void>
  /** Silently discards everything that existing connections send from now on. */
  swallow(): void
  /** Stops, or continues, reading what the server sends to existing connections. */
  stall(isStalled: boolean): void
  /** The number of open connections. */
  readonly connections: number
  /** The bytes that the server has sent. */
  readonly receivedBytes: number
}

export async function unreliableNetwork(serverUrl: string): Promise<UnreliableNetwork> {
  const target = new URL(serverUrl)
  const pairs = new Set<readonly [near: Socket, far: Socket]>()
  let receivedBytes = 0
  const make = () =>
    createServer((near) => {
      const far = connect(Number(target.port || 5432), target.hostname)
      const pair = [near, far] as const
      pairs.add(pair)
      near.pipe(far)
      far.pipe(near)
      far.on('data', ({ length }) => {
        receivedBytes += length
      })
      for (const socket of pair) {
        socket.on('error', () => {})
        socket.on('close', () => {
          pairs.delete(pair)
          for (const each of pair) each.destroy()
        })
      }
    })
  const listen = (server: ReturnType<typeof make>, port: number) =>
    new Promise<number>((resolve) =>
      server.listen(port, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
    )
  let server = make()
  const port = await listen(server, 0)
  const url = new URL(serverUrl)
  url.host = `127.0.0.1:${port}`
  const cut = () => {
    for (const [near, far] of pairs) for (const socket of [near, far]) socket.destroy()
  }
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      cut()
    })
  return {
    url: String(url),
    cut,
    close,
    async open() {
      server = make()
      await listen(server, port)
    },
    swallow() {
      for (const [near, far] of pairs) {
        near.unpipe(far)
        far.unpipe(near)
        near.resume()
        far.resume()
      }
    },
    stall(isStalled) {
      for (const [near, far] of pairs) {
        if (isStalled) far.unpipe(near).pause()
        else far.pipe(near)
      }
    },
    get receivedBytes() {
      return receivedBytes
    },
    get connections() {
      return pairs.size
    },
    [Symbol.asyncDispose]: close,
  }
}
