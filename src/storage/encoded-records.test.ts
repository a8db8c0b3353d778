import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineModels } from '../model/define.ts'
import type { Model } from '../model/model.ts'
import { EncodedRecords } from './encoded-records.ts'
import { sqliteDialect } from './sqlite/dialect.ts'

const pet = defineModels({ pet: { attributes: { name: { type: 'string' } } } }).get('pet') as Model
const list = [
  { id: 1, name: 'é'.repeat(30) },
  { id: 2, name: '' },
  { id: 3, name: '😀'.repeat(10) },
]

/** In parts of so many bytes. */
function pageOf(partBytes: number): EncodedRecords {
  const whole = Buffer.from(JSON.stringify(list))
  const parts = Array.from({ length: Math.ceil(whole.length / partBytes) }, (_, index) =>
    whole.subarray(index * partBytes, (index + 1) * partBytes),
  )
  let end = 0
  const ends = Uint32Array.from(list, (record) => {
    end += 1 + Buffer.byteLength(JSON.stringify(record))
    return end
  })
  return new EncodedRecords({ parts, ends, keys: [1, 2, 3], fingerprint: '', next: undefined }, pet, sqliteDialect)
}

for (const partBytes of [1, 7, 100, 1000]) {
  test(`records of a page in parts of ${partBytes} bytes are decoded and encoded one by one`, (t) => {
    const { mock } = t.mock.method(Buffer, 'concat')
    const page = pageOf(partBytes)
    assert.deepEqual(page.decodeAt(2), list[2])
    assert.equal(page.encodeAt(0), JSON.stringify(list[0]))
    assert.deepEqual(page.decode(), list)
    const joined = mock.calls.map(({ result }) => result?.length ?? 0)
    assert.ok(Math.max(0, ...joined) < 100, 'the whole page is not joined')
  })
}
