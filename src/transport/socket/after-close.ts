import type { WebSocket } from 'ws'

/** What a client may have sent before it received the closing frame. */
const maxMessagesAfterClose = 100
/** For the closing frame, which is lost when the connection ends while something that the client sent was not read. */
const lingerMs = 1_000

/** Does not read what a client goes on sending after the closing frame: `ws` would read all of it for 30 seconds. */
export function terminateIfSending(ws: WebSocket): void {
  let messages = 0
  ws.on('message', () => {
    if (++messages !== maxMessagesAfterClose) return
    ws.pause()
    const timer = setTimeout(() => ws.terminate(), lingerMs).unref()
    ws.once('close', () => clearTimeout(timer))
  })
}
