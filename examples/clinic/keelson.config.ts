import { join } from 'node:path'
import { defineConfig } from 'keelson'
import { catalogue } from './access.ts'
import { models } from './models.ts'
import { seed } from './seed.ts'
import { identify } from './users.ts'

export default defineConfig({
  // Relative to this file. `--database` or DATABASE_URL override it, for example with postgres://localhost/clinic.
  database: 'sqlite:data/clinic.db',
  models,
  // The user of a request or socket, which the access rules of the models compare with.
  auth: { identify },
  // The rules of models that declare none.
  access: catalogue,
  // Static pages: /live.html shows the visits of a day, /users.html what three users see. Both update with every change.
  public: join(import.meta.dirname, 'public'),
  // Called once for a new database.
  seed,
})
