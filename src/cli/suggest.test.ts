import assert from 'node:assert/strict'
import { test } from 'node:test'
import { didYouMean } from './suggest.ts'

const known = ['start', 'dev', 'routes', 'log', 'init', 'database', 'visitNote']

for (const [word, meant] of [
  ['strat', 'start'], // two letters swapped
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
  test(`"${word}" is ${meant === undefined ? 'like nothing we know' : `near "${meant}"`}`, () => {
    const advice = didYouMean(word, known, (name) => `keelson ${name}`, 'Something else.')
    assert.equal(advice, meant === undefined ? 'Something else.' : `Did you mean keelson ${meant}?`)
  })
}
