import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { splitPayload } from './payload.ts'
import { type Refusal, refusals } from './refusal.ts'

const { packets, payload } = refusals

describe('a payload with at most two packets:', () => {
  const cases: readonly [name: string, version: 3 | 4, text: string, expected?: Refusal][] = [
    ['nothing', 4, ''],
    ['two packets', 4, '42["a"]\x1e3'],
    ['an empty second packet', 4, '3\x1e'],
    ['three packets', 4, '3\x1e3\x1e3', packets],
    ['three empty packets', 4, '\x1e\x1e\x1e', packets],
    ['nothing', 3, ''],
    ['two packets', 3, '1:27:42["a"]'],
    ['a colon and digits within a packet', 3, '12:42["1:21:2"]1:2'],
    ['a length in UTF-16 code units', 3, '8:42["😀"]1:2'],
    ['three packets', 3, '1:21:21:2', packets],
    ['three empty packets', 3, '0:0:0:', packets],
    ['a second packet that is not complete, which the library reports', 3, '1:25:4'],
    ['a length that is no number', 3, '1:2x:2', payload],
    ['no length', 3, '42["a"]', payload],
    ['a length that no payload has', 3, `${'0'.repeat(20)}1:2`, payload],
  ]
  for (const [name, version, text, expected = [text]] of cases)
    test(`Engine.IO ${version}: ${name}`, () => assert.deepEqual(splitPayload(text, version, 2), expected))
})

test('a long payload is split between packets', () => {
  const packet = fc.string({ maxLength: 12 }).map((text) => `4${text.replaceAll('\x1e', '')}`)
  const many = fc.array(packet, { minLength: 1, maxLength: 450, size: 'max' })
  fc.assert(
    fc.property(many, (packets) => {
      const inThree = packets.map((packet) => `${packet.length}:${packet}`)
      const groups = Array.from(
        { length: Math.ceil(packets.length / 100) },
        (_, n) => [n * 100, n * 100 + 100] as const,
      )
      assert.deepEqual(
        splitPayload(packets.join('\x1e'), 4, 450),
        groups.map(([from, to]) => packets.slice(from, to).join('\x1e')),
      )
      assert.deepEqual(
        splitPayload(inThree.join(''), 3, 450),
        groups.map(([from, to]) => inThree.slice(from, to).join('')),
      )
    }),
    { numRuns: 30 },
  )
})

test('a long packet is a part of its own, and short ones are together', () => {
  const [short, long] = ['4a', `4${'x'.repeat(70_000)}`]
  const packets = [short, short, long, short, long, long, short]
  const parts = [[short, short], [long], [short], [long], [long], [short]]
  assert.deepEqual(
    splitPayload(packets.join('\x1e'), 4, 450),
    parts.map((part) => part.join('\x1e')),
  )
})
