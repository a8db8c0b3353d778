import assert from 'node:assert/strict'
import { copyFileSync, renameSync } from 'node:fs'
import { test } from 'node:test'
import { eventually } from '../../../../test/support/eventually.ts'
import { SqliteForTest } from '../../../../test/support/sqlite.ts'

for (const [what, replace] of [
  ['deleted', () => {}],
  ['replaced by another', (path: string) => copyFileSync(`${path}.away`, path)],
] as const)
  test(`a file that is ${what} while it is open takes no more writes, which is reported once, until it is back`, async () => {
    await using sqlite = await SqliteForTest.open({ pet: { attributes: { name: { type: 'string' } } } })
    const { path, reported } = sqlite
    const create = async () => (await sqlite.ask('POST', '/pet', { name: 'Rex' })).status
    assert.equal(await create(), 201)
    renameSync(path, `${path}.away`)
    replace(path)
    await eventually(() => reported.length > 0)
    for (let count = 0; count < 3; count++) assert.equal(await create(), 503)
    renameSync(`${path}.away`, path)
    await eventually(async () => (await create()) === 201)
    assert.deepEqual(reported.map(String), [
      `DatabaseError: ${path} was deleted or replaced while it is open; writes get 503. Stop the service, delete ${path}-wal and ${path}-shm, which do not belong to another file, and start it again`,
    ])
  })
