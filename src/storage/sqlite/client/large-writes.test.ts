import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { newFile, SqliteForTest } from '../../../../test/support/sqlite.ts'
import { Connection } from './connection.ts'

const counter = '/proc/thread-self/io'
const read = /rchar: (\d+)/
const written = /wchar: (\d+)/
const recordBytes = 1_000_000
const count = 8

/** By this thread; checkpoints run in another one. */
const bytesOf = (pattern: RegExp): number => Number(pattern.exec(readFileSync(counter, 'utf8'))?.[1])
const writtenBytes = (): number => bytesOf(written)

test('a change of large records writes them once, and their images to the log', {
  skip: !existsSync(counter),
}, async () => {
  const document = { attributes: { title: { type: 'string' }, text: { type: 'string' } } } as const
  await using sqlite = await SqliteForTest.open({ document }, { path: newFile() })
  for (let index = 0; index < count; index++) await sqlite.create('document', { text: 'x'.repeat(recordBytes) })
  const before = writtenBytes()
  await sqlite.ask('PATCH', '/document?where={"id":{">":0}}&count=true', { title: 'new' })
  const changed = 3 * count * recordBytes
  const bytes = writtenBytes() - before
  assert.ok(bytes > changed, `${bytes} bytes`)
  assert.ok(bytes < changed * 1.1, `${bytes} bytes are written for ${changed}`)
})

test('few large records are changed by a statement each, between which others have their turn', async (t) => {
  const document = { attributes: { title: { type: 'string' }, text: { type: 'string' } } } as const
  await using sqlite = await SqliteForTest.open({ document }, { path: newFile() })
  for (let index = 0; index < 4; index++) await sqlite.create('document', { text: 'x'.repeat(recordBytes) })
  const all = t.mock.method(Connection.prototype, 'all')
  const isUpdate = ({ arguments: [text] }: { readonly arguments: readonly unknown[] }) =>
    String(text).startsWith('update "document"')
  await sqlite.ask('PATCH', '/document?where={"id":{">":0}}&count=true', { title: 'new' })
  assert.equal(all.mock.calls.filter(isUpdate).length, 4)
})

test('records of many attributes are changed by few in a statement, between which others have their turn', async (t) => {
  const names = Array.from({ length: 200 }, (_, index) => `n${index}`)
  const wide = { attributes: Object.fromEntries(names.map((name) => [name, { type: 'number' }] as const)) }
  await using sqlite = await SqliteForTest.open({ wide }, { path: newFile() })
  await sqlite.ask('POST', '/wide?count=true', Array.from({ length: 100 }, () => ({ n1: 1 })) as never)
  const all = t.mock.method(Connection.prototype, 'all')
  await sqlite.ask('PATCH', '/wide?where={"n1":1}&count=true', { n1: 2 })
  const updates = all.mock.calls.filter(({ arguments: [text] }) => String(text).startsWith('update "wide"'))
  assert.equal(updates.length, 10)
})

test('a large value of one record is written once, and its images to the log', {
  skip: !existsSync(counter),
}, async () => {
  const document = { attributes: { text: { type: 'string' } } } as const
  await using sqlite = await SqliteForTest.open({ document }, { path: newFile() })
  await sqlite.create('document', { text: 'x'.repeat(recordBytes) })
  const before = writtenBytes()
  await sqlite.ask('PATCH', '/document/1', { text: 'y'.repeat(recordBytes) })
  const bytes = writtenBytes() - before
  assert.ok(bytes > 3 * recordBytes, `${bytes} bytes`)
  assert.ok(bytes < 3.3 * recordBytes, `${bytes} bytes are written`)
})

test('a commit does not read what a change of many records has written', { skip: !existsSync(counter) }, async (t) => {
  const document = { attributes: { title: { type: 'string' }, text: { type: 'string' } } } as const
  await using sqlite = await SqliteForTest.open({ document }, { path: newFile() })
  sqlite.otherProgram.exec(
    `with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000)
     insert into document (text) select hex(zeroblob(3500)) from n`,
  )
  const { exec } = Connection.prototype
  const reads: number[] = []
  t.mock.method(Connection.prototype, 'exec', function (this: Connection, text: string) {
    const before = bytesOf(read)
    exec.call(this, text)
    if (text === 'commit') reads.push(bytesOf(read) - before)
  })
  const { body } = await sqlite.ask('PATCH', '/document?where={"id":{">":0}}&count=true', { title: 'new' })
  assert.deepEqual(body, { count: 1000 })
  assert.ok(Math.max(...reads) < 100_000, `${reads} bytes are read`)
})

test('a small change of a large record: statement, commit and answer have a turn of the event loop each', async (t) => {
  const document = { attributes: { title: { type: 'string' }, text: { type: 'string' } } } as const
  await using sqlite = await SqliteForTest.open({ document }, { path: newFile() })
  await sqlite.create('document', { text: 'x'.repeat(recordBytes) })
  let turn = 0
  let isAnswered = false
  const turns: number[] = []
  const count = (): void => {
    turn++
    if (!isAnswered) setImmediate(count)
  }
  const isOfWrite = (text: string): boolean => text === 'commit' || text.startsWith('update "document"')
  for (const name of ['all', 'exec'] as const) {
    const run = Connection.prototype[name] as (text: string, ...rest: unknown[]) => unknown
    t.mock.method(Connection.prototype, name, function (this: Connection, text: string, ...rest: unknown[]) {
      if (isOfWrite(text)) turns.push(turn)
      return run.call(this, text, ...rest)
    } as never)
  }
  count()
  await sqlite.ask('PATCH', '/document/1', { title: 'new' })
  isAnswered = true
  turns.push(turn)
  const [updated = 0, committed = 0, answered = 0] = turns
  assert.ok(updated < committed && committed < answered, `turns ${turns}`)
})
