import { createService } from 'keelson'
import { models } from './models.ts'

/** Keelson behind a fetch handler, the interface of edge runtimes, Deno, Bun and web frameworks. */
export async function createHandler(database: string) {
  const service = await createService({ database, models, prefix: '/api' })
  const handler = async (request: Request): Promise<Response> => {
    if (new URL(request.url).pathname === '/health') return Response.json({ ok: true })
    return service.fetch(request)
  }
  return { handler, service }
}
