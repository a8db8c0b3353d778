import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { hasProperties } from './has-properties.ts'

class Pet {
  name = 'Rex'
}

describe('the values of an object are its properties', () => {
  const cases: readonly (readonly [name: string, value: unknown, expected: boolean])[] = [
    ['an object', { name: 'Rex' }, true],
    ['an object without a prototype', Object.assign(Object.create(null), { name: 'Rex' }), true],
    ['an object of another realm', runInNewContext('({ name: "Rex" })'), true],
    ['an instance of a class', new Pet(), true],
    ['a proxy', new Proxy({ name: 'Rex' }, {}), true],
    // biome-ignore lint/suspicious/noThenProperty: a model may have such an attribute
    ['an attribute that is called "then"', { then: 'later' }, true],
    ['undefined', undefined, false],
    ['null', null, false],
    ['a text', 'Rex', false],
    ['a list', [{ name: 'Rex' }], false],
    ['a function', () => {}, false],
    ['a Map', new Map([['name', 'Rex']]), false],
    ['a form', new FormData(), false],
    ['a query string', new URLSearchParams('name=Rex'), false],
    ['a Date', new Date(0), false],
    ['bytes', Buffer.from('Rex'), false],
    ['a Response', new Response('{}'), false],
    ['an Error', new Error('Rex'), false],
    ['a promise', Promise.resolve({ name: 'Rex' }), false],
    // biome-ignore lint/suspicious/noThenProperty: that is what is tested
    ['a query that can be awaited', { then() {} }, false],
  ]
  for (const [name, value, expected] of cases) test(name, () => assert.equal(hasProperties(value), expected))
})
