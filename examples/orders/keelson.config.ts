import { defineConfig } from 'keelson'
import { audited } from './audit.ts'
import { orderMail } from './mail.ts'
import { models } from './models.ts'
import { cancel, place } from './place-and-cancel.ts'
import { nightlyReport, write } from './report.ts'
import { seed } from './seed.ts'
import { identify } from './users.ts'

export default defineConfig({
  // Relative to this file. DATABASE_URL overrides it, for example with postgres://localhost/orders.
  database: 'sqlite:data/orders.db',
  auth: { identify },
  models: {
    ...models,
    product: { ...models.product, hooks: audited('product') },
    order: {
      ...models.order,
      actions: { place, cancel },
      hooks: audited('order'),
      on: { created: orderMail, updated: orderMail },
    },
    report: { ...models.report, actions: { write } },
  },
  jobs: { nightlyReport },
  seed,
})
