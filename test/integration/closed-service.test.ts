import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { type DatabaseKind, databases } from '../support/databases.ts'

const models = { pet: { attributes: { name: { type: 'string' } } } } as const

const inMemory: DatabaseKind = {
  name: 'sqlite in memory',
  missing: undefined,
  open: async () => ({ url: 'sqlite::memory:', async [Symbol.asyncDispose]() {} }),
}
/** With connections, which a service closes. */
const connected = databases.filter(({ name }) => name !== 'memory')

for (const { name, missing, open } of [inMemory, ...connected]) {
  describe(`a closed service on ${name}`, { skip: missing ?? false }, () => {
    test('says that it is closed, to calls and to requests', async () => {
      await using database = await open()
      const service = await createService({ database: database.url, models })
      const { system, fetch } = service
      const { pet } = system.records
      await pet.create({ name: 'Rex' })
      await service.close()
      for (const call of [
        () => pet.create({ name: 'Tom' }),
        () => pet.find({ where: { name: 'Rex' } }),
        () => pet.findOne(1),
        () => pet.count({}),
        () => pet.update(1, { name: 'Tom' }),
        () => pet.destroy(1),
        () => system.transaction(({ pet }) => pet.find({})),
      ])
        await assert.rejects(call, { code: 'E_UNAVAILABLE', message: 'The service is closed' }, String(call))
      await assert.rejects(service.listen(0), /The service is closed/)
      const response = await fetch(new Request('http://localhost/pet'))
      assert.equal(response.status, 503)
      assert.match(await response.text(), /The service is closed/)
      await service.close()
    })
  })
}

test('a service that is closed while it begins to listen does not serve', async () => {
  const service = await createService({ database: 'sqlite::memory:', models })
  const listening = service.listen(0).then(
    async (server) => {
      await server.stop()
      return 'serves'
    },
    (error: unknown) => String(error),
  )
  await service.close()
  assert.equal(await listening, 'Error: The service is closed')
})
