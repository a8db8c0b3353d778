import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Model } from '../model/model.ts'
import type { Reads } from '../storage/store.ts'
import { collectDeletions } from './deletion-set.ts'
import type { OperationServices } from './operation.ts'

test('each key of a chain of records is added to the set once', async (t) => {
  const length = 300
  const primaryKey = { name: 'id', references: undefined }
  const folder = { name: 'folder', primaryKey, key: [primaryKey] } as unknown as Model
  const parent = { name: 'parent', onDestroy: 'cascade' }
  // The record after each one refers to it.
  let last = 1
  const reads = { find: async () => ({ values: () => (last < length ? [++last] : []) }) } as unknown as Reads
  const services = {
    referencedBy: new Map([[folder, [{ model: folder, attribute: parent }]]]),
    limits: { maxAffected: length },
  } as unknown as OperationServices
  const { mock } = t.mock.method(Set.prototype, 'add')
  const { keys, rounds } = await collectDeletions(folder, [1], reads, services)
  assert.equal(keys.get(folder)?.size, length)
  assert.equal(rounds.length, length)
  assert.equal(mock.callCount(), length)
})
