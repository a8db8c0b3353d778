import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type DecodedPosition,
  decodePosition,
  encodePosition,
  isAhead,
  parseSnapshot,
  type Snapshot,
  sees,
} from './position.ts'

const snapshot = (text: string) => parseSnapshot(text) as Snapshot

test('a snapshot contains the transactions that had ended', () => {
  const seen = snapshot('10:20:10,15')
  assert.deepEqual(
    ['9', '10', '11', '15', '19', '20', '21'].map((tx) => sees(seen, tx)),
    [true, false, true, false, true, false, false],
  )
})

describe('positions', () => {
  for (const text of ['abc.10:10:', 'abc.10:20:10,15', 'abc.10:20:10~12:30:12,29~77', '.1:1:']) {
    test(`${text} is parsed and printed unchanged`, () => {
      const place = decodePosition(text)
      assert.ok(place)
      assert.equal(encodePosition(place), text)
    })
  }

  const wrong = [
    '',
    'abc',
    'abc.',
    'abc.10',
    'abc.10:10',
    'abc.20:10:',
    'abc.10:20:5',
    'abc.10:20:20',
    'abc.10:20:15,12',
    'abc.10:20:12,12',
    'abc.10:20:,',
    'abc.a:b:',
    'abc.-1:5:',
    'abc.1e3:5000:',
    'abc.10:20::',
    'abc.10:20:~10:20:',
    'abc.10:20:~10:20:~',
    'abc.10:20:~10:20:~-1',
    'abc.10:20:~5:15:~1',
    'abc.10:20:~10:20:~1~2',
    'abc. 10:20:',
    `abc.10:${'9'.repeat(20)}:`,
  ]
  for (const text of wrong) test(`${text || 'nothing'} is none`, () => assert.equal(decodePosition(text), undefined))
})

describe('a position that names later transactions is known by its beginning', () => {
  const reached = decodePosition('h.5:9:6,7') as DecodedPosition
  for (const [position, expected] of [
    ['h.5:10:', true],
    [`h.1:9000000000000000000:${Array.from({ length: 3_000 }, (_, index) => index + 1).join()}`, true],
    ['h.5:10:~5:12:~3', true],
    ['h.5:9:6,7', false],
    ['h.1:8:', false],
    ['other.5:10:', false],
    ['h.5:x:', false],
    ['h', false],
    ['', false],
  ] as const)
    test(position.slice(0, 40), () => assert.equal(isAhead(position, reached), expected))
})
