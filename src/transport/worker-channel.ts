import type { Socket } from 'node:net'

/** Connects the worker processes that share a port: one can give a connection to another. */
export interface WorkerChannel {
  /** The id of this process among the workers. */
  readonly id: string
  /** Gives a connection to another worker, with the bytes that were read from it. */
  send(worker: string, connection: Socket, received: Buffer): void
  /** The listener is called for each connection that another worker gives to this process. */
  receive(listener: (connection: Socket, received: Buffer) => void): void
}
