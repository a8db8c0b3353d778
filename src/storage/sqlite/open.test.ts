import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, test } from 'node:test'
import { newFile, SqliteForTest } from '../../../test/support/sqlite.ts'
import type { ModelDefinitions } from '../../model/definition.ts'

/** Whether the pet must have an owner, or may. */
const models = (required: boolean): ModelDefinitions => ({
  owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: { attributes: { owner: { model: 'owner', required }, tags: { collection: 'tag', via: 'pets' } } },
  tag: { attributes: { pets: { collection: 'pet', via: 'tags' } } },
})

describe('migrate: drop', () => {
  for (const [what, required] of [
    ['where records may point to others', false],
    ['where records must point to others', true],
  ] as const) {
    test(`creates every table again, ${what}`, async () => {
      const path = newFile()
      const first = await SqliteForTest.open(models(required), { path })
      await first.create('tag', {})
      await first.create('owner', { name: 'Ann' })
      await first.create('pet', { owner: 1, tags: [1] })
      await first[Symbol.asyncDispose]()
      await using second = await SqliteForTest.open(models(required), { path, migrate: 'drop' })
      for (const model of ['owner', 'pet', 'tag']) assert.deepEqual(await second.all(model), [])
      assert.deepEqual(await second.create('owner', { name: 'Bea' }), { id: 1, name: 'Bea', pets: [] })
    })
  }
})

for (const [what, path, message] of [
  ['a folder', '/tmp', /^\/tmp is a folder$/],
  ['a file that is no database', import.meta.filename, /open\.test\.ts: file is not a database$/],
  ['a folder that cannot be made', `${import.meta.filename}/a/b.db`, /open\.test\.ts\/a\/b\.db: .*not a directory/],
  ['a folder below one that takes none', '/proc/none/a/b.db', /^\/proc\/none\/a\/b\.db: .*mkdir '\/proc/],
] as const) {
  test(`${what} cannot be opened: the error names it`, async () => {
    await assert.rejects(SqliteForTest.open(models(false), { path }), { name: 'DatabaseError', message })
  })
}

test('creates the file and its folder', async () => {
  const path = newFile().replace('.db', '/deep/down.db')
  const first = await SqliteForTest.open(models(false), { path })
  await first.create('owner', { name: 'Ann' })
  await first[Symbol.asyncDispose]()
  await using second = await SqliteForTest.open(models(false), { path })
  assert.deepEqual(second.service.database.steps, [])
  assert.equal((await second.ask('GET', '/owner/1')).status, 200)
})

const anotherUser = 65_534

/** What a start by another user prints: its warnings, or its error. Undefined where no other user can start. */
function openedByOther(path: string): string | undefined {
  const source = `
    const { SqliteForTest } = await import(${JSON.stringify(new URL('../../../test/support/sqlite.ts', import.meta.url).href)})
    const options = { path: ${JSON.stringify(path)} }
    const { service } = await SqliteForTest.open(${JSON.stringify(models(false))}, options).catch(({ message }) => {
      console.log(message)
      process.exit()
    })
    console.log(service.warnings.join())
    await service.close()`
  const asOther = (...args: string[]) => spawnSync(process.execPath, args, { uid: anotherUser, encoding: 'utf8' })
  if (asOther('--check', import.meta.filename).status !== 0) return undefined
  return asOther('--input-type=module', '--eval', source).stdout.trim()
}

for (const [what, mode, printed] of [
  [
    'a file that this process may not write is named by a warning, which a start that changes nothing would not notice',
    0o777,
    (path: string) => `${path} is read-only: every write gets 503`,
  ],
  [
    'a folder that this process may not write to is named by the error',
    0o755,
    (path: string) =>
      `${path}: attempt to write a readonly database; ${dirname(path)} is read-only, and SQLite keeps the files -wal and -shm beside the database`,
  ],
] as const)
  test(what, async (t) => {
    if (process.getuid?.() !== 0) return t.skip('only root can act as another user')
    const path = newFile()
    await (await SqliteForTest.open(models(false), { path }))[Symbol.asyncDispose]()
    chmodSync(dirname(path), mode)
    const printedByOther = openedByOther(path)
    if (printedByOther === undefined) return t.skip('another user may not run this Node on these files')
    assert.equal(printedByOther, printed(path))
  })

test('the files beside a file that was read-only are named by a warning, as long as they are', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can act as another user')
  const path = newFile()
  await (await SqliteForTest.open(models(false), { path }))[Symbol.asyncDispose]()
  chmodSync(dirname(path), 0o777)
  chownSync(path, anotherUser, anotherUser)
  chmodSync(path, 0o444)
  if (openedByOther(path) === undefined) return t.skip('another user may not run this Node on these files')
  chmodSync(path, 0o644)
  assert.equal(openedByOther(path), `${path}-shm is read-only: every write gets 503`)
})
