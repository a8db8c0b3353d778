import assert from 'node:assert/strict'
import { test } from 'node:test'
import { didYouMean } from './suggest.ts'

const known = ['start', 'dev', 'routes', 'log', 'init', 'database', 'visitNote']

for (const [word, expected] of [
  ['strat', 'start'], // two letters transposed
  ['sart', 'start'],
  ['start1', 'start'],
  ['START', 'start'],
  ['lgo', 'log'],
  ['databse', 'database'],
  ['visitnotes', 'visitNote'],
  ['xyz', undefined],
  ['serve', undefined],
  ['', undefined],
] as const) {
  test(`"${word}" ${expected === undefined ? 'has no similar word' : `suggests "${expected}"`}`, () => {
    const advice = didYouMean(word, known, (name) => `keelson ${name}`, 'Something else.')
    assert.equal(advice, expected === undefined ? 'Something else.' : `Did you mean keelson ${expected}?`)
  })
}
