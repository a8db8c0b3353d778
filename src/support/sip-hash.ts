import { createHash } from 'node:crypto'

/*
 * SipHash-2-4 with 128 bits: a hash with a secret key. Without the key, two texts with one hash cannot be made, and nothing is
 * learned of a text from its hash. Of a short text it takes less time than any hash of `node:crypto`, most of whose time is the
 * call. It calculates with words of 64 bits, which WebAssembly has and JavaScript has not.
 */

export const sipKeyBytes = 16
export const sipBytes = 16
const wordBytes = 8

/** Places in the memory; the hash is at its beginning. */
const stateAt = sipBytes
const textPlace = stateAt + 4 * wordBytes
const pageBytes = 65_536

/** The most bytes that are hashed. */
export const longestSipText = 4096
const longestText = Math.floor(longestSipText / 3)

/** The hash with the key of a secret, as 128 bits in base64url. */
export class SipHash {
  readonly #sip: Sip | undefined

  constructor(secret: string) {
    this.#sip = openSip(createHash('sha256').update(secret).digest())
  }

  /** Undefined: the text is too long, or the engine has no WebAssembly. */
  of(text: string): string | undefined {
    const sip = this.#sip
    if (sip === undefined || text.length > longestText) return undefined
    return hashed(sip, sip.memory.write(text, sip.textAt))
  }

  /** Of these bytes, at most `longestSipText`. Undefined: the engine has no WebAssembly. */
  ofBytes(bytes: Buffer, from: number, to: number): string | undefined {
    const sip = this.#sip
    return sip && hashed(sip, bytes.copy(sip.memory, sip.textAt, from, to))
  }
}

function hashed({ run, memory }: Sip, length: number): string {
  run(length)
  return memory.toString('base64url', 0, sipBytes)
}

/** The hash with one key. */
interface Sip {
  /** Its text is to be written at `textAt`; then the hash is in the first `sipBytes`. */
  readonly memory: Buffer
  readonly textAt: number
  /** Hashes so many bytes. */
  readonly run: (length: number) => void
}

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly sip: (length: number) => void
}

/** The part of the interface that is used here. */
interface Compiler {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: Exports }
}

/** The key is the first `sipKeyBytes`. Undefined where a program runs without WebAssembly. */
export function openSip(key: Buffer): Sip | undefined {
  const { WebAssembly: compiler } = globalThis as { WebAssembly?: Compiler }
  try {
    if (!compiler) return undefined
    const { memory, sip } = new compiler.Instance(new compiler.Module(moduleOf())).exports
    const bytes = Buffer.from(memory.buffer)
    const [first, second] = [key.readBigUInt64LE(0), key.readBigUInt64LE(wordBytes)]
    const state = [
      first ^ 0x736f6d6570736575n,
      second ^ 0x646f72616e646f6dn ^ 0xeen, // 0xee: for a hash of 128 bits
      first ^ 0x6c7967656e657261n,
      second ^ 0x7465646279746573n,
    ]
    for (const [index, word] of state.entries()) bytes.writeBigUInt64LE(word, stateAt + wordBytes * index)
    return { memory: bytes, textAt: textPlace, run: sip }
  } catch {
    return undefined
  }
}

type Code = readonly number[]

/** A number of at most 14 bits. */
function lengthOf(number: number): Code {
  return number < 128 ? [number] : [(number & 127) | 128, number >> 7]
}

const section = (id: number, content: Code): Code => [id, ...lengthOf(content.length), ...content]
const nameOf = (name: string): Code => [name.length, ...Buffer.from(name)]

/** The local variables: the parameter, the end of the last word, the place and the value of a word, and the state. */
const [length, last, from] = [0, 1, 2] as const
const [v0, v1, v2, v3, word] = [3, 4, 5, 6, 7] as const
const words = [v0, v1, v2, v3] as const

const get = (local: number): Code => [0x20, local]
const set = (local: number): Code => [0x21, local]
const i32 = (number: number): Code => [0x41, number & 127]
/** A number of 64 bits, below 2^13. */
const i64 = (number: number): Code => (number < 64 ? [0x42, number] : [0x42, (number & 127) | 128, number >> 7])
const [add32, and32, add, xor, rotate] = [0x6a, 0x71, 0x7c, 0x85, 0x89] as const
const load = (place: number): Code => [0x29, 0, place]
const store = (place: number): Code => [0x37, 0, place]
const storeByte = (place: number): Code => [0x3a, 0, place]
const end = 0x0b

const rotated = (local: number, bits: number): Code => [...get(local), ...i64(bits), rotate, ...set(local)]
const xorWith = (local: number, value: Code): Code => [...get(local), ...value, xor, ...set(local)]
/** a += b, then b = rotated(b) ^ a. */
const mix = (a: number, b: number, bits: number): Code => [
  ...[...get(a), ...get(b), add, ...set(a)],
  ...[...get(b), ...i64(bits), rotate, ...get(a), xor, ...set(b)],
]
const round: Code = [
  ...[...mix(v0, v1, 13), ...rotated(v0, 32), ...mix(v2, v3, 16)],
  ...[...mix(v0, v3, 21), ...mix(v2, v1, 17), ...rotated(v2, 32)],
]
const fourRounds: Code = [...round, ...round, ...round, ...round]
const storeSum = (place: number): Code => [
  ...[...i32(0), ...get(v0), ...get(v1), xor, ...get(v2), xor, ...get(v3), xor],
  ...store(place),
]

const hashing: Code = [
  ...words.flatMap((local, index) => [...i32(0), ...load(stateAt + wordBytes * index), ...set(local)]),
  // The last word has the rest of the text, zeros, and the length.
  ...[...get(length), ...i32(-wordBytes), and32, ...i32(wordBytes), add32, ...set(last)],
  ...[...get(length), ...i64(0), ...store(textPlace), ...get(last), ...get(length), ...storeByte(textPlace - 1)],
  ...[0x02, 0x40, 0x03, 0x40], // block, loop
  ...[...get(from), ...get(last), 0x4f, 0x0d, 1], // leaves both unless from < last
  ...[...get(from), ...load(textPlace), ...set(word)],
  ...[...xorWith(v3, get(word)), ...round, ...round, ...xorWith(v0, get(word))],
  ...[...get(from), ...i32(wordBytes), add32, ...set(from), 0x0c, 0, end, end],
  ...[...xorWith(v2, i64(0xee)), ...fourRounds, ...storeSum(0)],
  ...[...xorWith(v1, i64(0xdd)), ...fourRounds, ...storeSum(wordBytes)],
  end,
]

function moduleOf(): Uint8Array {
  const [typeI32, typeI64] = [0x7f, 0x7e]
  const body = [2, 2, typeI32, words.length + 1, typeI64, ...hashing]
  const pages = Math.ceil((textPlace + longestSipText + wordBytes) / pageBytes)
  return Uint8Array.from([
    ...[0, ...Buffer.from('asm'), 1, 0, 0, 0],
    ...section(1, [1, 0x60, 1, typeI32, 0]), // the type of the function
    ...section(3, [1, 0]),
    ...section(5, [1, 0, pages]), // its memory
    ...section(7, [2, ...nameOf('memory'), 2, 0, ...nameOf('sip'), 0, 0]),
    ...section(10, [1, ...lengthOf(body.length), ...body]),
  ])
}
