import type { WebSocket } from 'ws'

/** What a client may have sent before it received the closing frame. */
const maxMessagesAfterClose = 100

/** Ends the connection of a client that goes on sending after the closing frame: `ws` would read all of it for 30 seconds. */
export function terminateIfSending(ws: WebSocket): void {
  let messages = 0
  ws.on('message', () => {
    if (++messages > maxMessagesAfterClose) ws.terminate()
  })
}
