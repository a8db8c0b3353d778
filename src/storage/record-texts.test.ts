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

test('a list is dropped with the record that it is embedded in, and a record in it has a text of its own', () => {
  const all = new RecordTexts(20_000)
  const pets = textsOf(all, 'pet')
  const [ofOwner, ofCity] = ['owner', 'city'].map((via) => all.of({}, 'pet', via) as TextsOfSelection)
  for (const texts of [pets, ofOwner, ofCity]) if (texts) for (const key of [1, 2]) all.set(texts, key, `${key}`)
  assert.deepEqual([...all.vias], [['pet', ['owner', 'city']]])
  all.dropList('pet', 'owner', 1)
  all.drop('pet', 2)
  const kept = [pets, ofOwner, ofCity].map((texts) => texts && [all.get(texts, 1), all.get(texts, 2)])
  assert.deepEqual(kept, [
    ['1', undefined],
    [undefined, '2'],
    ['1', '2'],
  ])
})

test('all lists of a table are dropped when a record takes a key that may be in one of them', () => {
  const all = new RecordTexts(20_000)
  const lists = all.of({}, 'pet', 'owner') as TextsOfSelection
  const filled = () => {
    all.set(lists, 1, '[]')
    lists.greatest = 7
  }
  filled()
  all.dropListsWith('pet', 8)
  all.dropListsWith('owner', 7)
  assert.equal(all.get(lists, 1), '[]')
  all.dropListsWith('pet', 7)
  assert.equal(all.get(lists, 1), undefined)
  assert.equal(all.bytes, 0)
  filled()
  all.dropListsWith('pet', Number.NaN)
  assert.equal(all.get(lists, 1), undefined)
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
