import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Encoder } from './encoder.ts'
import { RecordTexts, type TextsOfSelection } from './record-texts.ts'

const encoder = (): Encoder => ({ stored: [], encodeOpen: () => '', decode: () => ({}) })
const textsOf = (all: RecordTexts, table: string) => all.of(encoder(), table) as TextsOfSelection

test('texts are dropped when more bytes are used than are allowed, those that were not used first', () => {
  const all = new RecordTexts(20_000)
  const pets = textsOf(all, 'pet')
  for (let key = 1; key <= 200; key++) {
    all.set(pets, key, 'x'.repeat(100))
    assert.equal(all.get(pets, 1) !== undefined, true, `${key}`)
    assert.ok(all.bytes <= 20_000)
  }
  assert.equal(all.get(pets, 2), undefined)
  assert.ok(all.bytes > 10_000)
})

test('a text that would take a large part of all bytes is not kept', () => {
  const all = new RecordTexts(20_000)
  const pets = textsOf(all, 'pet')
  all.set(pets, 1, 'x'.repeat(1000))
  assert.equal(all.get(pets, 1), undefined)
  assert.equal(all.bytes, 0)
})

test('a changed record is dropped from the texts of every selection of its table', () => {
  const all = new RecordTexts(20_000)
  const [pets, names, owners] = [textsOf(all, 'pet'), textsOf(all, 'pet'), textsOf(all, 'owner')]
  for (const texts of [pets, names, owners]) for (const key of [1, 2]) all.set(texts, key, `${key}`)
  all.drop('pet', 1)
  const kept = [pets, names, owners].map((texts) => [all.get(texts, 1), all.get(texts, 2)])
  assert.deepEqual(kept, [
    [undefined, '2'],
    [undefined, '2'],
    ['1', '2'],
  ])
})

test('nothing is left of what was cleared, and what was read before is not kept', () => {
  const all = new RecordTexts(20_000)
  const pets = textsOf(all, 'pet')
  all.set(pets, 1, 'one')
  const { state } = all
  all.clear()
  assert.notEqual(all.state, state)
  all.set(pets, 2, 'two')
  assert.equal(all.bytes, 0)
})

test('texts of a hundred selections are kept at once', () => {
  const all = new RecordTexts(20_000)
  for (let count = 0; count < 100; count++) assert.ok(all.of(encoder(), 'pet'))
  const known = encoder()
  assert.equal(all.of(known, 'pet'), undefined)
})
