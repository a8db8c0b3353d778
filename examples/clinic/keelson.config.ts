import { join } from 'node:path'
import { defineConfig } from 'keelson'
import { models } from './models.ts'
import { seed } from './seed.ts'

export default defineConfig({
  // Beside this file. `--database` or DATABASE_URL name another: postgres://localhost/clinic, for one.
  database: 'sqlite:data/clinic.db',
  models,
  // Pages beside the records: /live.html is the waiting room, in step with all that happens.
  public: join(import.meta.dirname, 'public'),
  // Called once, when the database is new.
  seed,
})
