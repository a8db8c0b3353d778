import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WaitingBytes } from '../support/waiting-bytes.ts'
import { BodyWeight } from './body-weight.ts'

/** What it takes of the budget. */
function weightOf(body: string): number {
  const waiting = new WaitingBytes(1_000_000)
  let taken = 0
  waiting.take = (bytes) => {
    taken = bytes
    return true
  }
  new BodyWeight(Buffer.from(body), waiting).take()
  return taken
}

for (const [name, text, values] of [
  ['a list', '[1,2,3]', 4],
  ['names and values', '{"a":1,"b":{"c":[]}}', 8],
  ['what is in a text', '{"a":"[,:{"}', 3],
  ['a quotation mark in a text', String.raw`{"a":"x\",[:","b":1}`, 5],
  ['a backslash before the end of a text', String.raw`{"a":"x\\","b":1}`, 5],
  ['a text without an end', String.raw`["x\",[[[[`, 2],
  ['a backslash at the end', String.raw`["x\ `.trimEnd(), 2],
] as const)
  test(`the weight of a body counts names and values: ${name}`, () =>
    assert.equal(weightOf(text), 2 * text.length + 128 * values))
