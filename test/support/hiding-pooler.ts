import { connect, createServer, type Socket } from 'node:net'

export interface HidingPooler extends AsyncDisposable {
  /** The address of the database through the pooler. */
  readonly url: string
  /** Notifications that were not passed on. */
  readonly hidden: number
}

const notification = 'A'.charCodeAt(0)

/** Where the first message ends: each has its type, then its length, which includes itself. */
const endOf = (bytes: Buffer): number => (bytes.length < 5 ? Number.POSITIVE_INFINITY : 1 + bytes.readUInt32BE(1))

/** A pooler that gives each client its own session and hides the notifications of PostgreSQL, as some poolers do. */
export async function hidingPooler(databaseUrl: string): Promise<HidingPooler> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let hidden = 0
  const server = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname)
    near.pipe(far)
    let rest = Buffer.alloc(0)
    far.on('data', (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes])
      for (let end = endOf(rest); end <= rest.length; end = endOf(rest)) {
        if (rest[0] === notification) hidden++
        else near.write(rest.subarray(0, end))
        rest = rest.subarray(end)
      }
    })
    for (const socket of [near, far]) {
      socket.setNoDelay()
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        for (const each of [near, far]) each.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${(server.address() as { port: number }).port}`
  return {
    url: String(url),
    get hidden() {
      return hidden
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
