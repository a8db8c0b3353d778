import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JoinedRecords } from './joined-records.ts'
import type { Records } from './store.ts'

test('the size of each part is read once, however often that of all is asked for', () => {
  let reads = 0
  const part = {
    length: 1,
    get size() {
      reads++
      return 3
    },
  } as unknown as Records
  const joined = new JoinedRecords([part, part, part])
  for (let index = 0; index < joined.length; index++) assert.equal(joined.size, 9)
  assert.equal(reads, 3)
})
