import type { ErrorReport } from '../error-report.ts'
import type { Ready } from '../summary.ts'

/** The messages of a worker to its parent. */
export type WorkerMessage =
  /** The configuration is valid. The worker waits for `startMessage` before it opens the database. */
  | {
      readonly kind: 'loaded'
      readonly files: readonly string[]
      /** The folder of static files. */
      readonly publicFolder: string | undefined
      /** The database URL when the database is in the memory of one process. */
      readonly inMemoryDatabase: string | null
      /** Whether the configuration says that one process alone writes a PostgreSQL database. */
      readonly isSoleWriter: boolean
    }
  | { readonly kind: 'progress'; readonly done: number; readonly total: number }
  | { readonly kind: 'ready'; readonly ready: Ready }
  /** The worker exits after this message. */
  | { readonly kind: 'failed'; readonly report: ErrorReport; readonly files: readonly string[] }

/** A connection for another worker; its TCP socket accompanies the message. The parent passes both on. */
export interface ConnectionMessage {
  readonly kind: 'connection'
  /** The id of the worker. */
  readonly to: string
  /** The bytes read from the connection, in base64: JSON takes up to six characters for a byte, which every process parses. */
  readonly received: string
}

export const connectionMessage = (to: string, received: Buffer): ConnectionMessage => ({
  kind: 'connection',
  to,
  received: received.toString('base64'),
})

export const receivedWith = ({ received }: ConnectionMessage): Buffer => Buffer.from(received, 'base64')

export const isConnectionMessage = (message: unknown): message is ConnectionMessage =>
  typeof message === 'object' && message !== null && (message as ConnectionMessage).kind === 'connection'

/** A parent sends its worker this message once, and connections. A signal, or the end of the channel, stops the worker. */
export const startMessage = 'start'
