import { createServer, type IncomingMessage } from 'node:http'
import express, { type RequestHandler } from 'express'
import { createService } from 'keelson'
import { models } from './models.ts'

/**
 * Keelson under `/api` of an Express application that has routes and an authentication of its own, with sockets on the
 * same port. `isSignedIn` stands for that authentication, for example the check of a session cookie.
 */
export async function createApp(database: string, isSignedIn: (request: IncomingMessage) => boolean) {
  const service = await createService({ database, models })
  const app = express()
  app.get('/health', (_, response) => {
    response.json({ ok: true })
  })
  const guard: RequestHandler = (request, response, next) => {
    if (isSignedIn(request)) next()
    else response.sendStatus(401)
  }
  // A body that a middleware has already parsed is used; others are parsed by Keelson.
  app.use('/api', guard, service.handler)
  // Sockets that begin with HTTP long polling. Body parsers must come after it.
  app.use('/socket.io', guard, service.handler)
  // `sails.io.js` on pages of other sites loads this script before it connects.
  app.get('/__getcookie', service.handler)
  const server = createServer(app)
  // Express does not see upgrade requests: without a check of their own, WebSockets would bypass the authentication.
  server.on('upgrade', (request, socket, head) => {
    if (!isSignedIn(request) || !service.upgrade(request, socket, head)) socket.destroy()
  })
  return { server, service }
}
