import express from 'express'
import { createService } from 'keelson'
import { models } from './models.ts'

/** Keelson below `/api` of an Express application, beside routes of its own. */
export async function createApp(database: string) {
  const service = await createService({ database, models })
  const app = express()
  app.get('/health', (_, response) => {
    response.json({ ok: true })
  })
  // Bodies may have been parsed before; Keelson reads those that were not.
  app.use('/api', service.handler)
  return { app, service }
}
