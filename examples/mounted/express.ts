import { createServer } from 'node:http'
import express from 'express'
import { createService } from 'keelson'
import { models } from './models.ts'

/** Keelson below `/api` of an Express application, beside routes of its own, with sockets on the same port. */
export async function createApp(database: string) {
  const service = await createService({ database, models })
  const app = express()
  app.get('/health', (_, response) => {
    response.json({ ok: true })
  })
  // Bodies may have been parsed before; Keelson reads those that were not.
  app.use('/api', service.handler)
  // A script that browser clients on pages of other sites load before they open a socket.
  app.get('/__getcookie', service.handler)
  const server = createServer(app)
  server.on('upgrade', (request, socket, head) => {
    if (!service.upgrade(request, socket, head)) socket.destroy()
  })
  return { server, service }
}
