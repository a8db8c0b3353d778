import { createServer } from 'node:http'
import { WebSocketServer } from 'ws'
import { reportToParent } from '../child.ts'

/** `node bare-ws.ts PORT`: a minimal server with `ws`. The body of a request is sent to every connected client. */
const server = createServer((req, res) => {
  const chunks: Buffer[] = []
  req.on('data', (chunk: Buffer) => chunks.push(chunk))
  req.on('end', () => {
    const text = Buffer.concat(chunks).toString()
    for (const client of webSockets.clients) client.send(text)
    res.setHeader('Content-Length', 2).end('{}')
  })
})
const webSockets = new WebSocketServer({ server, perMessageDeflate: false })

server.listen(Number(process.argv[2]), '127.0.0.1', () =>
  reportToParent(async () => {
    for (const client of webSockets.clients) client.terminate()
    server.close()
  }),
)
