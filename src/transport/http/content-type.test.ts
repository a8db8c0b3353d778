import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseContentType } from './content-type.ts'

const valid: readonly [header: string, type: string, charset?: string][] = [
  ['application/json', 'application/json'],
  ['Application/JSON', 'application/json'],
  ['application/vnd.api+json', 'application/vnd.api+json'],
  ['application/json;charset=utf-8', 'application/json', 'utf-8'],
  ['application/json; charset=UTF-8', 'application/json', 'utf-8'],
  ['application/json \t; \tCharset="utf-8"', 'application/json', 'utf-8'],
  ['application/json; profile="a;b, c\\"d"; charset=utf-8', 'application/json', 'utf-8'],
  ['application/json;', 'application/json'],
  ['application/json;;charset=latin1', 'application/json', 'latin1'],
  ['text/plain; charset=""', 'text/plain', ''],
]

const refused: readonly string[] = [
  '',
  'application',
  'application/',
  '/json',
  'application /json',
  'application/json x',
  'application/json\tx',
  'application/json, text/plain',
  'application/json, application/json',
  'application/json; charset',
  'application/json; charset=',
  'application/json; charset =utf-8',
  'application/json; charset= utf-8',
  'application/json; charset=utf-8; charset=latin1',
  'application/json; charset=utf-8; CHARSET=utf-8',
  'application/json; charset="utf-8',
  'application/json; charset=utf-8 junk',
  'application/json\u00a0',
  'application/jsön',
]

describe('parseContentType', () => {
  for (const [header, type, charset] of valid) {
    test(`parses ${header}`, () => assert.deepEqual(parseContentType(header), { type, charset }))
  }
  for (const header of refused) {
    test(`refuses ${header || 'an empty header'}`, () => assert.equal(parseContentType(header), undefined))
  }
  test('takes linear time for a long header', () => {
    assert.equal(parseContentType(`a/b${' ;'.repeat(50_000)} x`), undefined)
    assert.equal(parseContentType(`a/b;c="${'\\"'.repeat(50_000)}`), undefined)
  })
})
