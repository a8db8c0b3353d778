import assert from 'node:assert/strict'
import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { test } from 'node:test'
import { createService } from '../../src/index.ts'
import { newFile } from '../support/sqlite.ts'

test('a SQLite file that is damaged is reported once, and requests that need what is damaged get 503', async () => {
  const path = newFile()
  const reported: string[] = []
  const open = () =>
    createService({
      database: `sqlite:${path}`,
      models: { pet: { attributes: { name: { type: 'string' } } } },
      onError: (error) => reported.push((error as Error).message),
    })
  const before = await open()
  const names = Array.from({ length: 100 }, (_, index) => ({ name: `${index}${'x'.repeat(2_000)}` }))
  await before.system.records.pet.createMany(names)
  await before.close()
  const file = openSync(path, 'r+')
  for (let at = 30 * 4096; at < statSync(path).size; at += 4096) writeSync(file, Buffer.alloc(4096, 0x5a), 0, 4096, at)
  closeSync(file)

  await using after = await open()
  for (let times = 0; times < 2; times++) {
    const response = await after.fetch(new Request('http://localhost/pet?limit=100'))
    assert.equal(response.status, 503)
    const { detail } = (await response.json()) as { detail: string }
    assert.equal(detail, 'The file of the database cannot be used')
  }
  const text =
    'The file of the database cannot be read or written (database disk image is malformed); such requests get 503'
  // What trims the log may report it too, in the words of SQLite.
  assert.equal(reported.filter((message) => message === text).length, 1, reported.join())
})
