/** What Node sends with a connection that the parent has accepted for this process. It is not documented. */
interface NewConnection {
  readonly cmd: 'NODE_HANDLE'
  readonly msg: { readonly act: 'newconn'; readonly seq: number }
}

/**
 * A connection for which this process has no file descriptor left is lost on its way. The parent would keep it open, and as it sends
 * the next one only after this process has confirmed the one before, it would be the last that this process ever gets.
 */
export function confirmLostConnections(): void {
  process.on('internalMessage' as 'message', (message: unknown, connection: unknown) => {
    if (connection || !isNewConnection(message) || !process.connected) return
    // To be closed by the parent, and not to be offered to another process, which may have none left either.
    process.send?.({ cmd: 'NODE_CLUSTER', ack: message.msg.seq, accepted: true }, () => {})
  })
}

function isNewConnection(message: unknown): message is NewConnection {
  const { cmd, msg } = message as Partial<NewConnection>
  return cmd === 'NODE_HANDLE' && msg?.act === 'newconn'
}
