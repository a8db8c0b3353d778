import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { databases } from '../support/databases.ts'

/* The tag of a list is a hash of its text with the secret of the database. */

const models = { note: { attributes: { createdAt: false, updatedAt: false, text: { type: 'string' } } } } as const
const open = (database: string) => createService({ database, models, sockets: false })
type Opened = Awaited<ReturnType<typeof open>>

async function ask({ fetch }: Opened, headers: Record<string, string> = {}) {
  const response = await fetch(new Request('http://localhost/note', { headers }))
  return { status: response.status, tag: response.headers.get('etag') as string, body: await response.text() }
}

for (const kind of databases.filter(({ name }) => name !== 'memory')) {
  describe(`the tag of a list, on ${kind.name}`, { skip: kind.missing ?? false }, () => {
    test('is known to other processes and after a restart, and to no other database', async () => {
      await using first = await kind.open()
      await using second = await kind.open()
      await using one = await open(first.url)
      await using elsewhere = await open(second.url)
      for (const { system } of [one, elsewhere]) await system.records.note.createMany([{ text: 'a' }, { text: 'é' }])
      const { tag, body } = await ask(one)
      await using beside = await open(first.url)
      assert.deepEqual(await ask(beside), { status: 200, tag, body })
      await one.close()
      await using restarted = await open(first.url)
      assert.deepEqual(await ask(restarted, { 'If-None-Match': tag }), { status: 304, tag, body: '' })
      const other = await ask(elsewhere)
      assert.equal(other.body, body)
      assert.notEqual(other.tag, tag)
    })
  })
}
