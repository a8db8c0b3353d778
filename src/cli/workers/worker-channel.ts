import cluster from 'node:cluster'
import type { Socket } from 'node:net'
import type { WorkerChannel } from '../../transport/worker-channel.ts'
import { type ChannelEnd, GivenConnections } from './given-connections.ts'
import { type ConnectionMessage, isConnectionMessage } from './messages.ts'

/** The channel of this process to the other workers, by way of their parent; undefined: it is not one of several. */
export function openWorkerChannel(): WorkerChannel | undefined {
  const { worker } = cluster
  if (!worker) return undefined
  const given = new GivenConnections(process as ChannelEnd)
  return {
    id: String(worker.id),
    send(to, connection, received) {
      const message: ConnectionMessage = { kind: 'connection', to, received: received.toString('latin1') }
      given.give(message, connection)
    },
    receive(listener) {
      process.on('message', (message: unknown, connection?: Socket) => {
        if (isConnectionMessage(message)) connection && listener(connection, Buffer.from(message.received, 'latin1'))
      })
    },
  }
}
