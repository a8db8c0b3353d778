import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { eventually } from '../../../../test/support/eventually.ts'
import { newFile, SqliteForTest } from '../../../../test/support/sqlite.ts'
import { type JsonObject, job } from '../../../index.ts'

for (const [what, replace] of [
  ['deleted', () => {}],
  ['replaced by another', (path: string) => copyFileSync(`${path}.away`, path)],
] as const)
  test(`a file that is ${what} while it is open takes no more writes, which is reported once, until it is back`, async () => {
    const handled: unknown[] = []
    await using sqlite = await SqliteForTest.open(
      {
        pet: {
          attributes: { name: { type: 'string' } },
          on: { created: job('welcome', ({ record }) => handled.push(record?.id)) },
        },
      },
      { runJobs: true, limits: { jobLeaseMs: 300 } },
    )
    const { path, reported } = sqlite
    const create = async () => (await sqlite.ask('POST', '/pet', { name: 'Rex' })).status
    assert.equal(await create(), 201)
    await eventually(() => handled.length > 0)
    renameSync(path, `${path}.away`)
    replace(path)
    await eventually(() => reported.length > 0)
    for (let count = 0; count < 3; count++) {
      const { status, body } = await sqlite.ask('POST', '/pet', { name: 'Rex' })
      assert.deepEqual([status, (body as JsonObject).detail], [503, 'The file of the database cannot be used'])
    }
    await setTimeout(600) // the lease of the job cannot be renewed meanwhile
    renameSync(`${path}.away`, path)
    await eventually(async () => (await create()) === 201)
    assert.deepEqual(reported.map(String), [
      `DatabaseError: ${path} was deleted or replaced while it is open; writes get 503. Stop the service, delete ${path}-wal and ${path}-shm, which do not belong to another file, and start it again`,
    ])
  })

for (const suffix of ['-wal', '-shm'])
  test(`a file whose ${suffix} is deleted while it is open takes no more writes, which would be lost`, async () => {
    await using sqlite = await SqliteForTest.open({ pet: { attributes: { name: { type: 'string' } } } })
    const { path, reported } = sqlite
    const create = async () => (await sqlite.ask('POST', '/pet', { name: 'Rex' })).status
    assert.equal(await create(), 201)
    renameSync(`${path}${suffix}`, `${path}.away`)
    await eventually(() => reported.length > 0)
    assert.equal(await create(), 503)
    assert.equal((await sqlite.ask('GET', '/pet')).status, 200)
    renameSync(`${path}.away`, `${path}${suffix}`)
    await eventually(async () => (await create()) === 201)
    assert.deepEqual(reported.map(String), [
      `DatabaseError: ${path}${suffix} was deleted or replaced while it is open; writes get 503, because they would be lost. Stop the service without killing it, and without opening ${path} by another program before: the stop moves what was written into ${path}. Then start it again`,
    ])
  })

test('a file whose folder cannot be read for a moment stays open, and the process goes on', async () => {
  const folder = join(dirname(newFile()), 'data')
  mkdirSync(folder)
  await using sqlite = await SqliteForTest.open(
    { pet: { attributes: { name: { type: 'string' } } } },
    { path: join(folder, 'a.db') },
  )
  const create = async () => (await sqlite.ask('POST', '/pet', { name: 'Rex' })).status
  assert.equal(await create(), 201)
  renameSync(folder, `${folder}.away`)
  symlinkSync(folder, folder) // refers to itself
  await setTimeout(500)
  rmSync(folder)
  renameSync(`${folder}.away`, folder)
  assert.equal(await create(), 201)
  assert.deepEqual(sqlite.reported, [])
})
