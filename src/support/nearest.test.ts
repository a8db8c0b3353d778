import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearest } from './nearest.ts'

for (const [word, known, expected] of [
  ['nmae', ['age', 'name'], 'name'],
  ['NAME', ['age', 'name'], 'name'],
  ['colour', ['color', 'owner'], 'color'],
  ['x', ['name'], undefined],
  ['n'.repeat(100), ['name', 'note'], undefined],
  ['abc', ['b', 'abcdefgh'], undefined],
  // The nearer one differs in all that it has.
  ['abcdef', ['x', 'abcdefghij'], 'abcdefghij'],
] as const)
  test(`${word.slice(0, 10)} among ${known}: ${expected}`, () => assert.equal(nearest(word, known), expected))
