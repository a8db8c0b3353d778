import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { mock, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { SqliteTableVersions } from '../../src/storage/sqlite/change-log/table-versions.ts'
import { newFile } from '../support/sqlite.ts'

const head = 'HTTP/1.1\r\nHost: localhost\r\n'
const get = `GET /pet?limit=3&select=name ${head}\r\n`
const refused = `POST /pet ${head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n[]`

/** The names in the answers to this many requests. */
async function answers(socket: Socket, count: number): Promise<readonly string[]> {
  let text = ''
  for (;;) {
    const found = [...text.matchAll(/"name":"(\w+)"/g)].map(([, name]) => name as string)
    if (found.length === count) return found
    text += (await once(socket, 'data'))[0]
  }
}

/** A service that keeps a list, and open connections to it. Another program renames the pet once the list is asked for again. */
async function serve(connections: number) {
  const path = newFile()
  const service = await createService({
    database: `sqlite:${path}`,
    models: { pet: { attributes: { name: { type: 'string' } } } },
  })
  const { port } = await service.listen(0, '127.0.0.1')
  await service.system.records.pet.create({ name: 'before' })
  const sql = new DatabaseSync(path)
  const sockets = Array.from({ length: connections }, () => connect(port, '127.0.0.1'))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  for (const socket of sockets) {
    // What is asked for three times is kept.
    for (let count = 0; count < 3; count++) {
      socket.write(get)
      await answers(socket, 1)
    }
  }
  /** Of each request, whether the database need not be looked at. */
  const asked: boolean[] = []
  const { of } = SqliteTableVersions.prototype
  const { mock: renaming } = mock.method(SqliteTableVersions.prototype, 'of', function (
    this: SqliteTableVersions,
    ...[tables, record, isSeen]
  ) {
    const versions = of.call(this, tables, record, isSeen)
    if (asked.push(isSeen === true) === 1) sql.exec("update pet set name = 'after'")
    return versions
  } satisfies typeof of)
  return {
    sockets,
    asked,
    async [Symbol.asyncDispose]() {
      renaming.restore()
      for (const socket of sockets) socket.destroy()
      sql.close()
      await service.close()
    },
  }
}

test('requests that arrive together are answered after one look at the database', async () => {
  await using service = await serve(2)
  const [first, second] = service.sockets as [Socket, Socket]
  first.write(get)
  second.write(get)
  assert.deepEqual(await Promise.all([answers(first, 1), answers(second, 1)]), [['before'], ['before']])
  assert.deepEqual(service.asked, [false, true])
  second.write(get)
  assert.deepEqual(await answers(second, 1), ['after'])
  // The last is asked when the new answer is kept.
  assert.deepEqual(service.asked, [false, true, false, true])
})

test('a request that its client may have sent after the look has a look of its own', async () => {
  {
    await using service = await serve(1)
    const [socket] = service.sockets as [Socket]
    socket.write(get + get)
    assert.deepEqual(await answers(socket, 2), ['before', 'after'])
  }
  // The end of a body may have arrived together with what follows it.
  await using service = await serve(2)
  const [first, second] = service.sockets as [Socket, Socket]
  second.write(refused.slice(0, -1))
  await new Promise((resolve) => setTimeout(resolve, 50))
  first.write(get)
  second.write(`]${get}`)
  assert.deepEqual(await Promise.all([answers(first, 1), answers(second, 1)]), [['before'], ['after']])
})
