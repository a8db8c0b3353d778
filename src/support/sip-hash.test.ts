import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { longestSipText, openSip, sipBytes, sipKeyBytes } from './sip-hash.ts'

const key = Buffer.from(Array.from({ length: sipKeyBytes }, (_, index) => index))

function hashOf(text: Uint8Array, key: Buffer): string {
  const sip = openSip(key)
  assert.ok(sip)
  // What was hashed before is still in the memory.
  sip.memory.fill(0xff, sip.textAt)
  sip.memory.set(text, sip.textAt)
  sip.run(text.length)
  return sip.memory.toString('hex', 0, sipBytes)
}

/** The same by its definition, with numbers of any length. */
function byDefinition(text: Uint8Array, key: Buffer): string {
  const word = (value: bigint): bigint => BigInt.asUintN(64, value)
  const rotated = (value: bigint, bits: bigint): bigint => word(value << bits) | (value >> (64n - bits))
  const [first, second] = [key.readBigUInt64LE(0), key.readBigUInt64LE(8)]
  let [a, b, c, d] = [
    first ^ 0x736f6d6570736575n,
    second ^ 0x646f72616e646f6dn ^ 0xeen,
    first ^ 0x6c7967656e657261n,
    second ^ 0x7465646279746573n,
  ]
  const rounds = (count: number): void => {
    for (let round = 0; round < count; round++) {
      a = word(a + b)
      b = rotated(b, 13n) ^ a
      a = rotated(a, 32n)
      c = word(c + d)
      d = rotated(d, 16n) ^ c
      a = word(a + d)
      d = rotated(d, 21n) ^ a
      c = word(c + b)
      b = rotated(b, 17n) ^ c
      c = rotated(c, 32n)
    }
  }
  const padded = Buffer.alloc(text.length - (text.length % 8) + 8)
  padded.set(text)
  padded[padded.length - 1] = text.length & 255
  for (let at = 0; at < padded.length; at += 8) {
    d ^= padded.readBigUInt64LE(at)
    rounds(2)
    a ^= padded.readBigUInt64LE(at)
  }
  const out = Buffer.alloc(16)
  c ^= 0xeen
  rounds(4)
  out.writeBigUInt64LE(a ^ b ^ c ^ d, 0)
  b ^= 0xddn
  rounds(4)
  out.writeBigUInt64LE(a ^ b ^ c ^ d, 8)
  return out.toString('hex')
}

describe('SipHash-2-4 with 128 bits', () => {
  // From the reference implementation: the text is 0, 1, 2 and so on.
  const known: readonly [length: number, hash: string][] = [
    [0, 'a3817f04ba25a8e66df67214c7550293'],
    [1, 'da87c1d86b99af44347659119b22fc45'],
    [7, 'a1f1ebbed8dbc153c0b84aa61ff08239'],
    [8, '3b62a9ba6258f5610f83e264f31497b4'],
    [63, '5150d1772f50834a503e069a973fbd7c'],
  ]
  for (const [length, hash] of known) {
    test(`of ${length} bytes is the known one`, () => {
      const text = Uint8Array.from({ length }, (_, index) => index)
      assert.equal(hashOf(text, key), hash)
      assert.equal(byDefinition(text, key), hash)
    })
  }

  test('is the one of its definition for texts of any length and other keys', () => {
    const other = Buffer.from(key.map((byte) => 255 - 7 * byte))
    for (const length of [2, 15, 16, 17, 255, 256, 257, 350, 1000, longestSipText - 1, longestSipText]) {
      const text = Uint8Array.from({ length }, (_, index) => (index * 7919) & 255)
      assert.equal(hashOf(text, other), byDefinition(text, other))
      assert.notEqual(hashOf(text, other), hashOf(text, key))
    }
  })
})
