import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService, type Service } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'
import { type Api, models, overHttp, overSockets } from './interface/api.ts'
import { endpoints } from './interface/endpoints.ts'
import { errorsAndLimits } from './interface/errors-and-limits.ts'
import { events } from './interface/events.ts'
import { lookupRule } from './interface/lookup-rule.ts'
import { resources } from './interface/resources.ts'

/*
 * The interface, section by section: every clause on SQLite and PostgreSQL, over HTTP and sockets. A case is named for
 * its section and clause.
 */
const clauses = [...resources, ...endpoints, ...lookupRule, ...events, ...errorsAndLimits]
const transports = { http: overHttp, sockets: overSockets }

for (const database of databases.filter(({ name }) => name !== 'memory')) {
  describe(database.name, { skip: database.missing ?? false }, () => {
    const reported: unknown[] = []
    let opened: TestDatabase
    let service: Pick<Service, 'listen' | 'close'>
    before(async () => {
      opened = await database.open()
      const onError = (error: unknown) => reported.push(error)
      service = await createService({ models, database: opened.url, onError })
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
      assert.deepEqual(reported, [])
    })

    for (const [transport, open] of Object.entries(transports)) {
      describe(transport, () => {
        let api: Api
        before(async () => {
          api = await open(service)
        })
        after(() => api[Symbol.asyncDispose]())
        for (const { name, needsHttp, run } of clauses) {
          if (needsHttp && transport !== 'http') continue
          test(name, () => run(api))
        }
      })
    }
  })
}
