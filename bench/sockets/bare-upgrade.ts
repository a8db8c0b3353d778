import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { Duplex } from 'node:stream'
import { reportToParent } from '../child.ts'

/** `node bare-upgrade.ts PORT`: answers the WebSocket handshake and keeps the connections, whose frames it does not read. */
const server = createServer()
const connections = new Set<Duplex>()
server.on('upgrade', (req, socket) => {
  const key = `${req.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
  const accept = createHash('sha1').update(key).digest('base64')
  connections.add(socket)
  socket.on('error', () => {})
  socket.on('end', () => socket.end())
  socket.on('close', () => connections.delete(socket))
  socket.resume()
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  )
})

server.listen(Number(process.argv[2]), '127.0.0.1', () =>
  reportToParent(async () => {
    for (const connection of connections) connection.destroy()
    server.close()
  }),
)
