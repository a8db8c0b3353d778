import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { newFile, SqliteForTest } from '../../../../test/support/sqlite.ts'
import { Connection } from './connection.ts'

const counter = '/proc/thread-self/io'
const recordBytes = 1_000_000
const count = 8

/** By this thread; checkpoints run in another one. */
const writtenBytes = (): number => Number(/wchar: (\d+)/.exec(readFileSync(counter, 'utf8'))?.[1])

test('a change of large records writes them once, and their images to the log', {
  skip: !existsSync(counter),
}, async () => {
  const document = { attributes: { title: { type: 'string' }, text: { type: 'string' } } } as const
  await using sqlite = await SqliteForTest.open({ document }, { path: newFile() })
  for (let index = 0; index < count; index++) await sqlite.create('document', { text: 'x'.repeat(recordBytes) })
  const before = writtenBytes()
  await sqlite.ask('PATCH', '/document?where={"id":{">":0}}&count=true', { title: 'new' })
  const changed = 3 * count * recordBytes
  const written = writtenBytes() - before
  assert.ok(written > changed, `${written} bytes`)
  assert.ok(written < changed * 1.1, `${written} bytes are written for ${changed}`)
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

test('a large value of one record is written once, and its images to the log', {
  skip: !existsSync(counter),
}, async () => {
  const document = { attributes: { text: { type: 'string' } } } as const
  await using sqlite = await SqliteForTest.open({ document }, { path: newFile() })
  await sqlite.create('document', { text: 'x'.repeat(recordBytes) })
  const before = writtenBytes()
  await sqlite.ask('PATCH', '/document/1', { text: 'y'.repeat(recordBytes) })
  const written = writtenBytes() - before
  assert.ok(written > 3 * recordBytes, `${written} bytes`)
  assert.ok(written < 3.3 * recordBytes, `${written} bytes are written`)
})
