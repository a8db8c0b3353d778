import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { longAnswer } from '../../src/storage/postgres/client/long-answers.ts'
import { PipelinedConnection } from '../../src/storage/postgres/client/pipelined-connection.ts'
import { databaseNamed } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'

const postgres = databaseNamed('postgres')

/** A service, and the connections that statements of a table were sent on. */
async function serve(database: string) {
  const text = { attributes: { text: { type: 'string' } } } as const
  const service = await createService({ database, models: { note: text, book: text } })
  const used: { readonly table: string | undefined; readonly connection: PipelinedConnection }[] = []
  const { send } = PipelinedConnection.prototype
  const sending = mock.method(PipelinedConnection.prototype, 'send', function (this: PipelinedConnection, ...parts) {
    const table = /^select.* from .*"(note|book)"/.exec(parts[0].text)?.[1]
    used.push({ table, connection: this })
    return send.apply(this, parts)
  } satisfies typeof send)
  return {
    records: service.system.records,
    read: async (path: string) =>
      assert.equal((await service.fetch(new Request(`http://localhost${path}`))).status, 200),
    connectionsOf: (table: string) => used.flatMap((use) => (use.table === table ? [use.connection] : [])),
    forget: () => void used.splice(0),
    async [Symbol.asyncDispose]() {
      sending.mock.restore()
      await service.close()
    },
  }
}

for (const { what, path } of [
  { what: 'a record by its key', path: (table: string) => `/${table}/1` },
  { what: 'a list', path: (table: string) => `/${table}` },
]) {
  test(`${what} with long values does not share a connection with one that has short values`, {
    skip: postgres.missing ?? false,
  }, async () => {
    await using database = await postgres.open()
    await using served = await serve(database.url)
    const { records, read, connectionsOf, forget } = served
    await records.note.create({ text: 'short' })
    await records.book.create({ text: 'x'.repeat(longAnswer + 1) })
    // Until the plan of a list and the length of its answer are known.
    await eventually(async () => {
      forget()
      for (const table of ['note', 'book', 'note', 'book']) await read(path(table))
      const ofNotes = connectionsOf('note')
      return ofNotes.length === 2 && connectionsOf('book').length === 2 && !ofNotes.includes(connectionsOf('book')[0]!)
    })
    forget()
    await Promise.all(Array.from({ length: 10 }, (_, index) => read(path(index % 2 ? 'note' : 'book'))))
    const ofBooks = new Set(connectionsOf('book'))
    assert.ok(ofBooks.size > 0)
    assert.deepEqual(
      connectionsOf('note').filter((connection) => ofBooks.has(connection)),
      [],
    )
  })
}
