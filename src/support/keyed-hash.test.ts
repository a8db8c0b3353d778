import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { KeyedHash } from './keyed-hash.ts'
import { openNh } from './nh.ts'
import { SipHash } from './sip-hash.ts'

const hashing = new KeyedHash('one')

/** The same by its definition, one product after the other. */
function byDefinition(text: string, secret: string): string {
  const key = createHash('shake256', { outputLength: 4144 }).update(`texts ${secret}`).digest()
  const bytes = Buffer.from(text)
  const padded = Buffer.concat([bytes, Buffer.alloc((32 - (bytes.length % 32)) % 32)])
  const input: Buffer[] = [Buffer.alloc(4)]
  input[0]?.writeUInt32LE(bytes.length)
  for (let from = 0; from < padded.length; from += 4096) input.push(sumsOf(padded.subarray(from, from + 4096), key))
  const whole = Buffer.concat(input)
  return new SipHash(`sums ${secret}`).ofBytes(whole, 0, whole.length) ?? assert.fail()
}

function sumsOf(part: Buffer, key: Buffer): Buffer {
  const sums = Buffer.alloc(64)
  for (let sum = 0; sum < 4; sum++) {
    for (let at = 0; at < part.length; at += 32) {
      for (let word = 0; word < 4; word++) {
        const plus = (place: number): bigint =>
          BigInt((part.readUInt32LE(at + place) + key.readUInt32LE(at + 16 * sum + place)) % 2 ** 32)
        const place = 16 * sum + 8 * (word % 2)
        const total = sums.readBigUInt64LE(place) + plus(4 * word) * plus(16 + 4 * word)
        sums.writeBigUInt64LE(BigInt.asUintN(64, total), place)
      }
    }
  }
  return sums
}

describe('the hash of a text', () => {
  for (const length of [0, 1, 31, 32, 33, 305, 4095, 4096, 4097, 9881, 65_536]) {
    test(`of ${length} characters is the one of its definition`, () => {
      const text = Array.from({ length }, (_, index) => String.fromCharCode(32 + ((index * 7919) % 90))).join('')
      assert.equal(hashing.of(text), byDefinition(text, 'one'))
      const other = text.replace(/.$/, 'é')
      assert.equal(hashing.of(other), byDefinition(other, 'one'))
    })
  }

  test('has a key of its own for each secret', () => {
    const other = new KeyedHash('two')
    for (const text of ['', 'a', 'b'.repeat(5000)]) {
      assert.equal(hashing.of(text), byDefinition(text, 'one'))
      assert.equal(other.of(text), byDefinition(text, 'two'))
    }
  })

  test('differs wherever one character does, and by the length', () => {
    const text = 'x'.repeat(5000)
    const texts = [text, `${text}\0`, `${text}x`, text.slice(1)]
    for (let at = 0; at < 5000; at++) texts.push(`${text.slice(0, at)}y${text.slice(at + 1)}`)
    assert.equal(new Set(texts.map((text) => hashing.of(text))).size, texts.length)
  })

  test('depends on nothing that was hashed before', () => {
    const short = hashing.of('[]')
    hashing.of('€'.repeat(65_536))
    assert.equal(hashing.of('[]'), short)
  })

  test('exists up to a length, and where there is WebAssembly', (t) => {
    assert.equal(hashing.of('x'.repeat(65_537)), undefined)
    const global = globalThis as { WebAssembly?: unknown }
    const known = global.WebAssembly
    t.after(() => (global.WebAssembly = known))
    global.WebAssembly = undefined
    assert.equal(openNh(1), undefined)
  })
})
