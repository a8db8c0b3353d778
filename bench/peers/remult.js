import express from 'express'
import { Entity, Fields, Validators } from 'remult'
import { createPostgresDataProvider } from 'remult/postgres'
import { remultApi } from 'remult/remult-express'
import { reportToParent } from '../child.ts'

/*
 * Remult 3 on Express with its provider for PostgreSQL.
 * `node remult.js DATABASE PORT`
 */

const [connectionString = '', port] = process.argv.slice(2)
const kinds = ['cat', 'dog', 'bird', 'fish', 'horse', 'rabbit', 'snake', 'turtle']

class Pet {}
const fields = {
  id: Fields.autoIncrement(),
  name: Fields.string({ required: true, validate: Validators.maxLength(80) }),
  kind: Fields.string({ required: true, validate: Validators.in(kinds) }),
  breed: Fields.string({ allowNull: true, validate: Validators.maxLength(80) }),
  note: Fields.string({ allowNull: true, validate: Validators.maxLength(500) }),
  age: Fields.integer({ validate: Validators.min(0) }),
  weight: Fields.number(),
  tags: Fields.json({ valueConverter: { fieldTypeInDb: 'jsonb' } }),
  details: Fields.json({ valueConverter: { fieldTypeInDb: 'jsonb' } }),
  vaccinated: Fields.boolean({ defaultValue: () => false }),
  createdAt: Fields.createdAt(),
  updatedAt: Fields.updatedAt(),
}
for (const [name, field] of Object.entries(fields)) field(Pet.prototype, name)
Entity('pet', { allowApiCrud: true, dbName: '"pet"' })(Pet)

const app = express()
app.use(
  remultApi({
    entities: [Pet],
    dataProvider: createPostgresDataProvider({ connectionString }),
    ensureSchema: false,
  }),
)
const server = app.listen(Number(port), '127.0.0.1')
reportToParent(async () => server.close())
