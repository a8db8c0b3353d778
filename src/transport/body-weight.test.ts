import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WaitingBytes } from '../support/waiting-bytes.ts'
import { BodyWeight, takeWeight } from './body-weight.ts'

/** What it takes of the budget. */
function weightOf(body: string): number {
  const waiting = new WaitingBytes(2_000_000)
  let taken = 0
  waiting.take = (bytes) => {
    taken = bytes
    return true
  }
  new BodyWeight(Buffer.from(body), waiting).take()
  return taken
}

for (const [name, text, values, objects] of [
  ['a list', '[1,2,3]', 4, 0],
  ['empty records', '[{},{},{}]', 4, 3],
  ['names and values', '{"a":1,"b":{"c":[]}}', 6, 2],
  ['what is in a text', '{"a":"[,:{"}', 2, 1],
  ['a quotation mark in a text', String.raw`{"a":"x\",[:","b":1}`, 4, 1],
  ['a backslash before the end of a text', String.raw`{"a":"x\\","b":1}`, 4, 1],
  ['a text without an end', String.raw`["x\",[[[[`, 2, 0],
  ['a backslash at the end', String.raw`["x\ `.trimEnd(), 2, 0],
  ['a list after a space', ' [{},{}]', 3, 2],
  ['a form with a quotation mark', 'name="&pets[0][age]=1&pets[1][age]=1', 1, 3],
  ['elements of XML', '<a><b/></a>', 1, 3],
  ['a text without a type', '='.repeat(2_000), 1, 1_000],
] as const)
  test(`the weight of a body counts objects, names and values: ${name}`, () =>
    assert.equal(weightOf(text), 2 * text.length + 128 * values + 1024 * objects))

for (const [name, text, weighed] of [
  ['a short record', `{"name":"${'x'.repeat(1000)}"}`, false],
  ['a request of a socket', '["post",{"url":"/pet","headers":{},"data":{}}]', false],
  ['a long record', `{"name":"${'x'.repeat(1024)}"}`, true],
  ['a short form', 'pets[0][age]=1', true],
  ['a short list of records', '[{},{},{},{},{}]', true],
] as const)
  test(`the weight of ${name} is ${weighed ? '' : 'not '}counted`, () => {
    assert.equal(takeWeight(Buffer.from(text), new WaitingBytes(1_000_000)) !== undefined, weighed)
  })
