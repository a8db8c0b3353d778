import { defineConfig } from 'keelson'
import { models } from './models.ts'
import { seed } from './seed.ts'

export default defineConfig({
  // Beside this file. `--database` or DATABASE_URL name another: postgres://localhost/clinic, for one.
  database: 'sqlite:data/clinic.db',
  models,
  // Called once, when the database is new.
  seed,
})
