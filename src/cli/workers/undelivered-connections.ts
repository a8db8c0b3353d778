import type { ChildProcess } from 'node:child_process'

/** The internal handle of a socket of `node:net`, which is not documented. */
interface Handle {
  /** May be called again. */
  close(): void
}

/** What `node:cluster` sends with a connection that it has accepted for a worker. It is not documented. */
interface NewConnection {
  readonly cmd: 'NODE_CLUSTER'
  readonly act: 'newconn'
  readonly seq: number
}

/** The interval at which the channel of a worker that has ended is looked at. */
const confirmationMs = 10

/**
 * `node:cluster` closes its copy of a connection once the worker has confirmed it. One that has ended before confirms
 * nothing: the connection would stay open, with nothing that reads it, and its client would wait without an end. Closed, its
 * client connects again.
 */
export function closeUndeliveredConnections(child: ChildProcess): void {
  const undelivered = new Map<number, Handle>()
  const send = child.send as (...args: unknown[]) => boolean
  child.send = (...args: unknown[]) => {
    const [message, handle] = args
    if (handle && isNewConnection(message)) undelivered.set(message.seq, handle as Handle)
    return send.apply(child, args)
  }
  child.on('internalMessage', (message: { readonly ack?: number }) => {
    if (message.ack !== undefined) undelivered.delete(message.ack)
  })
  // Node emits no `disconnect` while a connection has not been confirmed. What the worker has confirmed is read until then.
  const close = (): void => {
    if (child.connected) return void setTimeout(close, confirmationMs)
    for (const handle of undelivered.values()) handle.close()
    undelivered.clear()
  }
  child.once('exit', close)
}

function isNewConnection(message: unknown): message is NewConnection {
  const { cmd, act } = message as Partial<NewConnection>
  return cmd === 'NODE_CLUSTER' && act === 'newconn'
}
