import type { IncomingMessage } from 'node:http'
import Fastify from 'fastify'
import { createService } from 'keelson'
import { models } from './models.ts'

/**
 * Keelson under `/api` of a Fastify application that has routes and an authentication of its own, with sockets on the
 * same port. `isSignedIn` stands for that authentication, for example the check of a session cookie.
 */
export async function createApp(database: string, isSignedIn: (request: IncomingMessage) => boolean) {
  const service = await createService({ database, models, prefix: '/api' })
  const app = Fastify()
  app.get('/health', async () => ({ ok: true }))
  app.register(async (api) => {
    api.addHook('onRequest', async (request, reply) => {
      if (!isSignedIn(request.raw)) return reply.code(401).send()
    })
    // Keelson parses bodies itself: it supports more content types.
    api.removeAllContentTypeParsers()
    api.addContentTypeParser('*', (_request, _payload, done) => done(null))
    // The second path is that of sockets that begin with HTTP long polling.
    for (const path of ['/api/*', '/socket.io/']) {
      api.all(path, (request, reply) => {
        reply.hijack()
        service.handler(request.raw, reply.raw)
      })
    }
  })
  // `sails.io.js` on pages of other sites loads this script before it connects.
  app.get('/__getcookie', (request, reply) => {
    reply.hijack()
    service.handler(request.raw, reply.raw)
  })
  // Fastify does not see upgrade requests: without a check of their own, WebSockets would bypass the authentication.
  app.server.on('upgrade', (request, socket, head) => {
    if (!isSignedIn(request) || !service.upgrade(request, socket, head)) socket.destroy()
  })
  // `preClose` runs before Fastify waits for open connections; closing the service ends its sockets and streams.
  app.addHook('preClose', () => service.close())
  return { app, service }
}
