import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { blockEventLoop } from '../../../test/support/block-event-loop.ts'
import { fingerprint, VersionHash } from '../../operation/version.ts'
import { ServiceError } from '../../protocol/errors.ts'
import { type Embedded, type Records, requireLength } from '../../storage/store.ts'
import { KeyedHash } from '../../support/keyed-hash.ts'
import { type Encoded, encodeRecord, encodeRecords } from './encode-records.ts'

/** Records of these texts; encoding each takes some milliseconds. */
const recordsOf = (texts: readonly string[], { ms = 0, size = texts.length } = {}): Records => ({
  length: texts.length,
  size,
  next: undefined,
  values: () => [],
  decode: () => [],
  decodeAt: () => assert.fail(),
  embedded: () => undefined,
  embed: (_: readonly Embedded[]) => assert.fail(),
  encodeAt(index) {
    blockEventLoop(ms)
    return texts[index] as string
  },
  *pieces(index) {
    yield this.encodeAt(index)
  },
})
const list = (texts: readonly string[]) => `[${texts.join(',')}]`
const long = JSON.stringify('é😀"'.repeat(10_000))
const most = 16_000_000
const hash = new KeyedHash('secret')

describe('a list', () => {
  for (const [name, texts, partCount] of [
    ['of none', [], undefined],
    ['of one', ['{}'], undefined],
    ['that is short', ['{"a":1}', '{"a":2}'], undefined],
    ['whose last record is long', ['{}', long], undefined],
    ['that is long', [long, '{}', long, long, '{}'], 2],
  ] as const) {
    test(name, async () => {
      const { body, whole } = await encodeRecords(recordsOf(texts), most, hash)
      assert.equal(body.encoded, list(texts))
      assert.equal(body.parts?.length, partCount)
      assert.equal(whole, partCount ? fingerprint(list(texts)) : (hash.of(list(texts)) ?? fingerprint(list(texts))))
    })
  }

  test('that was encoded elsewhere is taken as it is', () => {
    const text = list([long, long, '{}'])
    const bytes = Buffer.from(text)
    const records = {
      ...recordsOf([]),
      encoded: { parts: [bytes.subarray(0, 3), bytes.subarray(3)], fingerprint: 'told' },
    }
    const { body, whole } = encodeRecords(records, bytes.length, hash) as Encoded
    assert.deepEqual([body.encoded, whole, body.parts?.length], [text, 'told', 2])
    assert.throws(() => encodeRecords(records, bytes.length - 1, hash), { code: 'E_BAD_CRITERIA' })
  })

  test('that embeds many records is encoded in pieces', async () => {
    const texts = [long, long, long]
    const { body } = await encodeRecords(recordsOf(texts, { size: 2_000 }), most, hash)
    assert.equal(body.encoded, list(texts))
    assert.ok(body.parts)
    const { body: one, whole } = await encodeRecord(recordsOf([long], { size: 2_000 }), most, new VersionHash('secret'))
    assert.deepEqual([one.encoded, whole], [long, fingerprint(long)])
  })

  test('that embeds a few long records is encoded in pieces, with the hash of the whole', async () => {
    const members = '"x"'.repeat(20_000)
    const text = `{"id":1,"pets":[${members},${members}]}`
    const records: Records = {
      ...recordsOf(['{}', text], { size: 4 }),
      encodeAt(index, maxBytes) {
        requireLength(index === 0 ? '{}' : text, maxBytes)
        return index === 0 ? '{}' : assert.fail('encoded as one text')
      },
      *pieces(index) {
        if (index === 0) yield '{}'
        else yield* ['{"id":1,"pets":', '[', members, ',', members, ']', '}']
      },
    }
    const { body, whole } = await encodeRecords(records, most, hash)
    assert.deepEqual(
      [body.encoded, whole, body.parts?.length],
      [list(['{}', text]), fingerprint(list(['{}', text])), 2],
    )
    const alone = {
      ...records,
      length: 1,
      size: 3,
      pieces: () => records.pieces(1),
      encodeAt: () => records.encodeAt(1, 1),
    }
    const one = await encodeRecord(alone, most, new VersionHash('secret'))
    assert.deepEqual([one.body.encoded, one.whole, one.body.parts?.length], [text, fingerprint(text), 2])
  })

  test('whose record cannot be encoded is not encoded again in pieces', () => {
    const records: Records = {
      ...recordsOf(['{}'], { size: 2 }),
      encodeAt: () => {
        throw new Error('a mistake')
      },
      pieces: () => ['{}'],
    }
    assert.throws(() => encodeRecords(records, most, hash), { message: 'a mistake' })
  })

  test('lets others run between its parts', async () => {
    let turns = 0
    const timer = setInterval(() => turns++, 0)
    await encodeRecords(recordsOf(Array(12).fill(long), { ms: 5 }), most, hash)
    clearInterval(timer)
    assert.ok(turns >= 3, `${turns} turns of the event loop`)
  })

  test('of one long record is encoded in one turn, and its version is made in a later one', async () => {
    const text = long + long
    const order: string[] = []
    const versions = new VersionHash('secret')
    versions.of = (text) => {
      order.push('version')
      return fingerprint(text)
    }
    const encoded = encodeRecord(recordsOf([text], { ms: 10 }), most, versions)
    setImmediate(() => order.push('other'))
    assert.equal((await encoded).body.encoded, text)
    assert.deepEqual(order, ['other', 'version'])
  })

  for (const [name, texts] of [
    ['in one part', ['"é"']],
    ['in several', [long, long, long, long]],
  ] as const) {
    test(`that is too large is refused, ${name}`, async () => {
      const bytes = Buffer.byteLength(list(texts))
      const encode = async (maxBytes: number): Promise<Encoded> => encodeRecords(recordsOf(texts), maxBytes, hash)
      await encode(bytes)
      await assert.rejects(
        encode(bytes - 1),
        (error) => error instanceof ServiceError && error.details.limit === 'maxAnswerBytes',
      )
    })
  }
})
