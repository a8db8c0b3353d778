import { feathers } from '@feathersjs/feathers'
import { KnexService } from '@feathersjs/knex'
import { bodyParser, errorHandler, koa, rest } from '@feathersjs/koa'
import knex from 'knex'
import { reportToParent } from '../child.ts'

/*
 * Feathers 5 on Koa with the Knex service. It validates nothing, because the service needs no schema.
 * `node feathers.js DATABASE PORT`
 */

const [connection = '', port] = process.argv.slice(2)
const now = () => new Date().toISOString()

class Pets extends KnexService {
  create(data, params) {
    return super.create({ vaccinated: false, ...toColumns(data), createdAt: now(), updatedAt: now() }, params)
  }

  patch(id, data, params) {
    return super.patch(id, { ...toColumns(data), updatedAt: now() }, params)
  }
}

/** Knex passes arrays to PostgreSQL as its arrays, not as JSON. */
function toColumns({ tags, ...data }) {
  return { ...data, ...(tags !== undefined && { tags: JSON.stringify(tags) }) }
}

const app = koa(feathers())
app.use(errorHandler())
app.use(bodyParser())
app.configure(rest())
const database = knex({ client: 'pg', connection, pool: { min: 2, max: 10 } })
app.use('pet', new Pets({ Model: database, name: 'pet', paginate: false }))
const server = await app.listen(Number(port), '127.0.0.1')
reportToParent(async () => {
  server.close()
  await database.destroy()
})
