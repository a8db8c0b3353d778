import { defineConfig } from 'keelson'
import { forPostgres } from './for-postgres.ts'
import { models } from './models.ts'

const database = process.env.DATABASE_URL ?? 'sqlite:chinook.sqlite'

export default defineConfig({
  database,
  models: database.startsWith('postgres') ? forPostgres(models) : models,
  // The tables have no columns for these attributes.
  attributes: { createdAt: false, updatedAt: false },
})
