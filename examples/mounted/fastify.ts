import Fastify from 'fastify'
import { createService } from 'keelson'
import { models } from './models.ts'

/** Keelson below `/api` of a Fastify application, beside routes of its own, with sockets on the same port. */
export async function createApp(database: string) {
  const service = await createService({ database, models, prefix: '/api' })
  const app = Fastify()
  app.get('/health', async () => ({ ok: true }))
  app.register(async (api) => {
    // Bodies are left to Keelson, which knows more types of them.
    api.removeAllContentTypeParsers()
    api.addContentTypeParser('*', (_request, _payload, done) => done(null))
    // The second is a script that browser clients on pages of other sites load before they open a socket.
    for (const address of ['/api/*', '/__getcookie']) {
      api.all(address, (request, reply) => {
        reply.hijack()
        service.handler(request.raw, reply.raw)
      })
    }
  })
  app.server.on('upgrade', (request, socket, head) => {
    if (!service.upgrade(request, socket, head)) socket.destroy()
  })
  // Before Fastify waits for its connections: those of listeners end with the service.
  app.addHook('preClose', () => service.close())
  return { app, service }
}
