/*
 * NH, the hash of UMAC (RFC 4418): the sum of the products of pairs of words, to each of which a word of the key was added.
 * Two texts of the same length have the same sum for one key in 2^32, and all four sums, each with the key moved on, for one in
 * 2^128. A processor computes four products at once, which JavaScript cannot ask for, and WebAssembly can.
 */

/** What is hashed has a multiple of so many bytes. */
export const nhUnit = 32
/** The four sums, each in two parts. */
export const nhBytes = 64
/** The key has so many bytes more than what is hashed. */
export const nhMoreKey = 48

/** Hashes the bytes of its memory between two places with the key at `key`, and writes the sums to `out`. */
export type Nh = (from: number, to: number, key: number, out: number) => void

interface Instance {
  readonly exports: { readonly memory: { readonly buffer: ArrayBuffer }; readonly nh: Nh }
}

/** The part of the interface that is used here. */
interface Compiler {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => Instance
}

/** Undefined where a program runs without WebAssembly, or on a processor without these instructions. */
export function openNh(pages: number): Instance['exports'] | undefined {
  const { WebAssembly: compiler } = globalThis as { WebAssembly?: Compiler }
  try {
    return compiler && new compiler.Instance(new compiler.Module(moduleOf(pages))).exports
  } catch {
    return undefined
  }
}

type Code = readonly number[]

const section = (id: number, content: Code): Code => [id, ...lengthOf(content.length), ...content]

const nameOf = (name: string): Code => [name.length, ...Buffer.from(name)]

/** A number of at most 14 bits. */
function lengthOf(number: number): Code {
  return number < 128 ? [number] : [(number & 127) | 128, number >> 7]
}

/** The local variables: the parameters, the sums, and what they are made of. */
const [from, to, key, out] = [0, 1, 2, 3] as const
const sums = [4, 5, 6, 7]
const [first, second, a, b] = [8, 9, 10, 11] as const

const get = (local: number): Code => [0x20, local]
const set = (local: number): Code => [0x21, local]
const tee = (local: number): Code => [0x22, local]
const advance = (local: number): Code => [...get(local), 0x41, nhUnit, 0x6a, ...set(local)]
const end = 0x0b

/** An instruction on four words of 32 bits, or two of 64. */
const vector = (number: number): Code => [0xfd, ...lengthOf(number)]
const load = (address: number, offset: number): Code => [...get(address), ...vector(0), 4, offset]
const store = (offset: number): Code => [...vector(11), 4, offset]
const add32 = vector(174)
const add64 = vector(206)
const multiplyLow = vector(222)
const multiplyHigh = vector(223)

const addProducts = (local: number, index: number): Code => [
  ...[...get(first), ...load(key, 16 * index), ...add32, ...tee(a)],
  ...[...get(second), ...load(key, 16 * index + 16), ...add32, ...tee(b), ...multiplyLow],
  ...[...get(a), ...get(b), ...multiplyHigh, ...add64],
  ...[...get(local), ...add64, ...set(local)],
]

const hashing: Code = [
  ...[0x02, 0x40, 0x03, 0x40], // block, loop
  ...[...get(from), ...get(to), 0x4f, 0x0d, 1], // leaves both unless from < to
  ...[...load(from, 0), ...set(first), ...load(from, 16), ...set(second)],
  ...sums.flatMap(addProducts),
  ...[...advance(from), ...advance(key), 0x0c, 0, end, end],
  ...sums.flatMap((local, index) => [...get(out), ...get(local), ...store(16 * index)]),
  end,
]

function moduleOf(pages: number): Uint8Array {
  const [i32, v128] = [0x7f, 0x7b]
  const body = [1, sums.length + 4, v128, ...hashing]
  return Uint8Array.from([
    ...[0, ...Buffer.from('asm'), 1, 0, 0, 0],
    ...section(1, [1, 0x60, 4, i32, i32, i32, i32, 0]), // the type of the function
    ...section(3, [1, 0]),
    ...section(5, [1, 0, ...lengthOf(pages)]), // its memory
    ...section(7, [2, ...nameOf('memory'), 2, 0, ...nameOf('nh'), 0, 0]),
    ...section(10, [1, ...lengthOf(body.length), ...body]),
  ])
}
