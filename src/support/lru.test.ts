import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Lru } from './lru.ts'

/** The same by its definition: keys from the least to the most recently used. */
class ByDefinition {
  #order: (readonly [key: number, value: number])[] = []
  readonly #size: number

  constructor(size: number) {
    this.#size = size
  }

  get(key: number): number | undefined {
    const found = this.#order.find(([known]) => known === key)
    if (found) this.set(...found)
    return found?.[1]
  }

  set(key: number, value: number): void {
    this.#order = [...this.#order.filter(([known]) => known !== key), [key, value] as const].slice(-this.#size)
  }
}

test('hands over what it evicts and what is replaced, once', () => {
  const removed: string[] = []
  const lru = new Lru<number, string>(2, (value) => removed.push(value))
  lru.set(1, 'a')
  lru.set(2, 'b')
  lru.set(1, 'c')
  lru.set(1, 'c')
  lru.set(3, 'd')
  assert.deepEqual(removed, ['a', 'b'])
})

test('keeps what weighs no more than its size together, and the last one in any case', () => {
  const removed: string[] = []
  const lru = new Lru<string, string>(
    5,
    (value) => removed.push(value),
    ({ length }) => length,
  )
  for (const key of ['a', 'bb', 'cc']) lru.set(key, key)
  lru.get('a')
  lru.set('d', 'd')
  assert.deepEqual(removed, ['bb'])
  lru.set('a', 'A')
  lru.set('eeeeeee', 'e')
  assert.deepEqual(removed, ['bb', 'a', 'cc', 'd', 'A'])
  assert.equal(lru.get('eeeeeee'), 'e')
  lru.set('f', 'f')
  assert.deepEqual([lru.get('eeeeeee'), lru.get('f')], [undefined, 'f'])
})

test('keeps what was used last, whatever is asked for and kept', () => {
  const steps = fc.array(fc.tuple(fc.boolean(), fc.nat(7), fc.nat(99)), { maxLength: 60 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), steps, (size, steps) => {
      const [lru, expected] = [new Lru<number, number>(size), new ByDefinition(size)]
      for (const [isSet, key, value] of steps) {
        if (isSet) for (const cache of [lru, expected]) cache.set(key, value)
        else assert.equal(lru.get(key), expected.get(key))
      }
      for (let key = 0; key < 8; key++) assert.equal(lru.get(key), expected.get(key))
    }),
  )
})
