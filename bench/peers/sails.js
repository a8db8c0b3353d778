import { mkdtempSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reportToParent } from '../child.ts'

/*
 * Sails 1 with blueprint routes and sails-postgresql. Off: Grunt, sessions, views, sockets and logs of requests.
 * `node sails.js DATABASE PORT`
 */

const [url = '', port] = process.argv.slice(2)
const require = createRequire(import.meta.url)
const { Sails } = require('sails')

const pet = {
  attributes: {
    name: { type: 'string', required: true, maxLength: 80 },
    kind: {
      type: 'string',
      required: true,
      isIn: ['cat', 'dog', 'bird', 'fish', 'horse', 'rabbit', 'snake', 'turtle'],
    },
    breed: { type: 'string', allowNull: true, maxLength: 80 },
    note: { type: 'string', allowNull: true, maxLength: 500 },
    age: { type: 'number', isInteger: true, required: true, min: 0 },
    weight: { type: 'number', required: true },
    tags: { type: 'json', columnType: 'jsonb' },
    details: { type: 'json', columnType: 'jsonb' },
    vaccinated: { type: 'boolean', defaultsTo: false },
  },
}

const app = new Sails()
await new Promise((resolve, reject) => {
  app.lift(
    {
      appPath: mkdtempSync(join(tmpdir(), 'peer-sails-')),
      environment: 'production',
      port: Number(port),
      explicitHost: '127.0.0.1',
      log: { level: 'error', noShip: true },
      hooks: { grunt: false, session: false, views: false, i18n: false, pubsub: false, orm: require('sails-hook-orm') },
      blueprints: { rest: true, shortcuts: false, actions: false },
      security: { cors: { allRoutes: false } },
      datastores: { default: { adapter: require('sails-postgresql'), url } },
      models: {
        migrate: 'safe',
        schema: true,
        fetchRecordsOnUpdate: true,
        fetchRecordsOnCreate: true,
        dataEncryptionKeys: { default: 'bm90IHVzZWQgYnkgdGhlIGJlbmNobWFyayAxMjM0NTY=' },
        attributes: {
          id: { type: 'number', autoIncrement: true },
          createdAt: { type: 'ref', columnType: 'timestamptz', autoCreatedAt: true },
          updatedAt: { type: 'ref', columnType: 'timestamptz', autoUpdatedAt: true },
        },
      },
      orm: { moduleDefinitions: { models: { pet }, adapters: {} } },
    },
    (error) => (error ? reject(error) : resolve()),
  )
})
reportToParent(() => new Promise((resolve) => app.lower(resolve)))
