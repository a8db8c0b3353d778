import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createService } from '../../src/index.ts'
import { SailsClient } from '../support/sails-client.ts'

/*
 * A scan whose client has disconnected is stopped: with one place for scans, the next one runs at once instead of after
 * the time limit of a statement.
 */

const slow = `/pet?where=${encodeURIComponent(JSON.stringify({ or: Array.from({ length: 20 }, (_, index) => ({ name: { like: `%a%b${index}%c%d%` } })) }))}`

async function openLarge(folder: string) {
  const file = join(folder, 'pets.db')
  const service = await createService({
    database: `sqlite:${file}`,
    limits: { maxScans: 1, statementTimeoutMs: 60_000 },
    models: { pet: { attributes: { name: { type: 'string' } } } },
  })
  const database = new DatabaseSync(file)
  database.exec(`insert into pet (name, createdAt, updatedAt)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000)
    select 'abcd' || hex(randomblob(40)) || i, 0, 0 from n`)
  database.close()
  return service
}

const clients: readonly (readonly [name: string, abandon: (port: number) => Promise<void>])[] = [
  [
    'an HTTP request',
    async (port) => {
      const socket = connect(port, '127.0.0.1')
      socket.write(`GET ${slow} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      await new Promise((resolve) => setTimeout(resolve, 400))
      socket.destroy()
    },
  ],
  [
    'a socket',
    async (port) => {
      const client = await SailsClient.connect(`http://127.0.0.1:${port}`, { transports: ['websocket'] })
      void client.ask('get', slow)
      await new Promise((resolve) => setTimeout(resolve, 400))
      client.close()
    },
  ],
]

for (const [name, abandon] of clients) {
  test(`the scan of ${name} that is gone does not hold up the next one`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'keelson-scan-'))
    const service = await openLarge(folder)
    try {
      const { port, url } = await service.listen(0)
      await Promise.all([abandon(port), abandon(port)])
      const response = await fetch(`${url}/pet?where=${encodeURIComponent('{"name":{"contains":"nothing"}}')}`)
      assert.equal(response.status, 200)
      assert.deepEqual(await response.json(), [])
    } finally {
      await service.close()
      await rm(folder, { recursive: true, force: true })
    }
  })
}
