import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attributeTypes } from './types.ts'
import { createUuids } from './uuid-v7.ts'

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

function make(times: readonly number[]): string[] {
  let index = 0
  const uuid = createUuids({ now: () => times[index++] as number })
  return times.map(() => uuid())
}

const isAscending = (ids: readonly string[]): boolean => ids.every((id, index) => index === 0 || id > ids[index - 1]!)

test('an id is a UUID of version 7 in canonical form', () => {
  const uuid = attributeTypes.find(({ name }) => name === 'uuid')!
  for (const id of make(Array.from({ length: 1000 }, (_, index) => 1_795_221_303_411 + index))) {
    assert.match(id, form)
    assert.equal(uuid.parse(id), id)
  }
})

test('an id starts with the time', () => {
  assert.equal(make([0x0123456789ab])[0]?.slice(0, 13), '01234567-89ab')
})

test('each is greater than the one before', async (t) => {
  await t.test('as time goes on', () => assert.ok(isAscending(make([1, 2, 500, 501, 1e12]))))
  await t.test('within a millisecond', () => assert.ok(isAscending(make(Array(10_000).fill(7)))))
  await t.test('when the clock goes back', () => assert.ok(isAscending(make([1000, 999, 5, 1000, 1001, 1]))))
})

test('ids are unique, also across two generators', () => {
  const ids = [...make(Array(5000).fill(7)), ...make(Array(5000).fill(7))]
  assert.equal(new Set(ids).size, ids.length)
})
