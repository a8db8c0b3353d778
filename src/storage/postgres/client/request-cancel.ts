import type { EventEmitter } from 'node:events'
import type * as pg from 'pg'

/** A request that is not taken is given up after this time. */
const timeoutMs = 5_000

interface CancellableClient {
  readonly processID: number
  readonly secretKey: number
}

interface CancelWire extends EventEmitter {
  readonly ssl: unknown
  readonly sslNegotiation: string
  readonly stream: { destroy(): void }
  connect(portOrPath: number | string, host?: string): void
  requestSsl(): void
  cancel(processId: number, secretKey: number): void
}

/**
 * Asks the server, by the protocol and a connection of its own, to stop what the client waits for. A pooler passes it on to
 * the process that serves the client now: a moment later the number of that process would stop a statement of another
 * client. Resolves when the server has taken the request, or never will.
 */
export function requestCancel(client: pg.Client, other: pg.Client): Promise<void> {
  const { processID, secretKey } = client as unknown as CancellableClient
  const wire = other.connection as unknown as CancelWire
  const timer = setTimeout(() => wire.stream.destroy(), timeoutMs).unref()
  // The other side ends the connection: PgBouncer drops a request whose connection was ended first.
  const send = () => wire.cancel(processID, secretKey)
  wire.on('error', () => {}) // the statement ends at its time limit
  const ended = new Promise<void>((resolve) => {
    wire.once('end', () => {
      clearTimeout(timer)
      resolve()
    })
  })
  wire.once('sslconnect', send)
  wire.once('connect', () => {
    if (!wire.ssl) send()
    else if (wire.sslNegotiation !== 'direct') wire.requestSsl()
  })
  if (other.host.startsWith('/')) wire.connect(`${other.host}/.s.PGSQL.${other.port}`)
  else wire.connect(other.port, other.host)
  return ended
}
