import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { newFile } from '../../../test/support/sqlite.ts'
import { matchAll } from '../../criteria/criteria.ts'
import { defineModels } from '../../model/define.ts'
import { defaultLimits } from '../../support/limits.ts'
import { openSqlite } from './open.ts'

test('migrate: safe serves records and does not change the database', async () => {
  const path = newFile()
  const otherProgram = new DatabaseSync(path)
  otherProgram.exec('create table pet (id integer primary key, name text)')
  const schema = () => otherProgram.prepare('select name, sql from sqlite_schema order by name').all()
  const before = schema()
  const models = defineModels(
    { pet: { attributes: { name: { type: 'string' } } } },
    { createdAt: false, updatedAt: false },
  )
  const { store, steps, notes } = await openSqlite({ path, models, migrate: 'safe', limits: defaultLimits })
  assert.deepEqual(steps, [])
  const pet = models.get('pet')
  assert.ok(pet)
  const name = pet.attributes.get('name')
  assert.ok(name)
  await store.insert(pet, [{ attribute: name, value: 'Rex' }], { origin: 'peer-1' })
  await store.transaction((transaction) => transaction.insert(pet, [{ attribute: name, value: 'Tom' }]))
  assert.equal(await store.count(pet, matchAll), 2)
  assert.match(store.changes.limitation ?? '', /No changes are captured/)
  assert.equal(await notes.get('anything'), undefined)
  await store[Symbol.asyncDispose]()
  assert.deepEqual(schema(), before)
  otherProgram.close()
})

test('and says which tables a change log lacks that other models have made', async () => {
  const path = newFile()
  const definitions = { pet: { attributes: { name: { type: 'string' } } } } as const
  const shared = { createdAt: false, updatedAt: false } as const
  const open = async (models: Parameters<typeof defineModels>[0], migrate: 'add' | 'safe') => {
    const { store } = await openSqlite({ path, models: defineModels(models, shared), migrate, limits: defaultLimits })
    await store[Symbol.asyncDispose]()
    return store.changes.limitation
  }
  assert.equal(await open(definitions, 'add'), undefined)
  assert.equal(await open(definitions, 'safe'), undefined)
  using otherProgram = new DatabaseSync(path)
  otherProgram.exec('create table owner (id integer primary key, name text)')
  const limitation = await open({ ...definitions, owner: definitions.pet }, 'safe')
  assert.equal(
    limitation,
    'No changes are captured: the change log lacks owner, and migrate: "safe" adds nothing to it',
  )
})
