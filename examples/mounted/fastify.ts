import Fastify from 'fastify'
import { createService } from 'keelson'
import { models } from './models.ts'

/** Keelson below `/api` of a Fastify application, beside routes of its own. */
export async function createApp(database: string) {
  const service = await createService({ database, models, prefix: '/api' })
  const app = Fastify()
  app.get('/health', async () => ({ ok: true }))
  app.register(async (api) => {
    // Bodies are left to Keelson, which knows more types of them.
    api.removeAllContentTypeParsers()
    api.addContentTypeParser('*', (_request, _payload, done) => done(null))
    api.all('/api/*', (request, reply) => {
      reply.hijack()
      service.handler(request.raw, reply.raw)
    })
  })
  app.addHook('onClose', () => service.close())
  return { app, service }
}
