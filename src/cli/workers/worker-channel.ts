import cluster from 'node:cluster'
import type { Socket } from 'node:net'
import type { WorkerChannel } from '../../transport/worker-channel.ts'
import { type ChannelEnd, ConnectionHandoff } from './connection-handoff.ts'
import { confirmLostConnections } from './lost-connections.ts'
import { connectionMessage, isConnectionMessage, receivedWith } from './messages.ts'

/** The channel of this process to the other workers, by way of their parent; undefined if it is not one of several. */
export function openWorkerChannel(): WorkerChannel | undefined {
  const { worker } = cluster
  if (!worker) return undefined
  confirmLostConnections()
  const handoff = new ConnectionHandoff(process as ChannelEnd)
  return {
    id: String(worker.id),
    send(to, connection, received) {
      handoff.send(connectionMessage(to, received), connection)
    },
    receive(listener) {
      process.on('message', (message: unknown, connection?: Socket) => {
        if (isConnectionMessage(message)) connection && listener(connection, receivedWith(message))
      })
    },
  }
}
