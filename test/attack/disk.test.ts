import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { type OpenService, openService } from '../../src/service/open-service.ts'
import { databases, type TestDatabase } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'

/* What a client makes the database keep besides its records, the change log and the stored answers, is bounded in bytes. */

const models = { pet: { attributes: { createdAt: false, updatedAt: false, text: { type: 'string' } } } } as const
const logKeepBytes = 400_000
const bytesOfText = 20_000
const requestCount = 60

for (const database of databases) {
  if (database.name === 'memory') continue
  describe(`the disk, ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: OpenService

    before(async () => {
      opened = await database.open()
      service = await openService({
        models,
        database: opened.url,
        limits: { logKeepBytes },
        onError: (error: unknown) => assert.fail(String(error)),
      })
    })
    after(async () => {
      await service[Symbol.asyncDispose]()
      await opened[Symbol.asyncDispose]()
    })

    /** Texts that a database cannot compress. */
    const texts = Array.from({ length: requestCount }, () => randomBytes(bytesOfText / 2).toString('hex'))

    const create = async (number: number) => {
      const { headers } = await service.handle({
        method: 'POST',
        path: '/pet',
        query: '',
        headers: { 'idempotency-key': `${number}` },
        body: { text: texts[number] as string },
        site: 'none',
      })
      return headers['Idempotency-Replayed'] === 'true'
    }

    const bytesOfLog = async (): Promise<number> => {
      let bytes = 0
      for (let position = await service.changes.tail(); ; ) {
        const batch = await service.changes.read(position, 100)
        if (batch === 'reset') return bytesOfLog() // trimmed meanwhile
        if (batch.changes.length === 0) return bytes
        bytes += JSON.stringify(batch.changes).length
        position = batch.position
      }
    }

    test('keeps the newest changes and answers, up to so many bytes', async () => {
      const before = await service.changes.head()
      for (let number = 0; number < requestCount; number++) assert.equal(await create(number), false)
      const late = await service.changes.head()
      // On PostgreSQL a transaction that runs on the server meanwhile delays it.
      await eventually(async () => (await bytesOfLog()) <= logKeepBytes * 1.2)
      assert.ok((await bytesOfLog()) > logKeepBytes / 2)
      assert.equal(await service.changes.read(before, 1), 'reset')
      assert.notEqual(await service.changes.read(late, 1), 'reset')
      await eventually(async () => !(await create(0)))
      assert.equal(await create(requestCount - 1), true)
    })
  })
}
