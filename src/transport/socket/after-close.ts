import type { WebSocket } from 'ws'

/** The most messages that a client may have sent before it received the closing frame. */
const maxMessagesAfterClose = 100
/** Time for the closing frame to arrive. If the connection is destroyed while received data is unread, the frame may be lost. */
const lingerMs = 1_000

/** Stops reading from a client that continues to send after the closing frame; `ws` would read its messages for 30 seconds. */
export function terminateIfSending(ws: WebSocket): void {
  let messages = 0
  ws.on('message', () => {
    if (++messages !== maxMessagesAfterClose) return
    ws.pause()
    const timer = setTimeout(() => ws.terminate(), lingerMs).unref()
    ws.once('close', () => clearTimeout(timer))
  })
}
