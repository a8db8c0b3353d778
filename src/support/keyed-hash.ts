import { createHash } from 'node:crypto'
import { type Nh, nhBytes, nhMoreKey, nhUnit, openNh } from './nh.ts'
import { SipHash } from './sip-hash.ts'

/** Each part of a text is hashed with the same key. */
const partBytes = 4096
const keyBytes = partBytes + nhMoreKey
/** A longer text is not hashed: it has at most three bytes for each of these. */
const maxLength = 65_536
const maxBytes = maxLength * 3
const lengthBytes = 4
const inputBytes = lengthBytes + (maxBytes / partBytes) * nhBytes

/** Places in the memory. */
const inputAt = Math.ceil(keyBytes / nhUnit) * nhUnit
const textAt = Math.ceil((inputAt + inputBytes) / nhUnit) * nhUnit
const pageBytes = 65_536
const pages = Math.ceil((textAt + maxBytes + nhUnit) / pageBytes)

interface Hasher {
  readonly bytes: Buffer
  readonly nh: Nh
  /** Whose key is in the memory. */
  owner: KeyedHash | undefined
}

/** All hashes of a process share one memory. `null`: there is none. */
let hasher: Hasher | null | undefined

function openHasher(): Hasher | null {
  const opened = openNh(pages)
  return opened ? { bytes: Buffer.from(opened.memory.buffer), nh: opened.nh, owner: undefined } : null
}

/**
 * Tells texts apart, as a hash does, in a quarter of the time that SHA-1 takes for 10 kB. Without the secret, two texts with
 * one hash cannot be made, and nothing is learned of a text from its hash: its parts are hashed with a secret key, and the
 * sums, with the length, by SipHash with another one.
 */
export class KeyedHash {
  readonly #key: Buffer
  readonly #sums: SipHash

  constructor(secret: string) {
    this.#sums = new SipHash(`sums ${secret}`)
    this.#key = createHash('shake256', { outputLength: keyBytes }).update(`texts ${secret}`).digest()
  }

  /** 128 bits in base64url. Undefined: the text is too long, or the engine has no WebAssembly with SIMD. */
  of(text: string): string | undefined {
    if (hasher === undefined) hasher = openHasher()
    if (hasher === null || text.length > maxLength) return undefined
    const { bytes, nh } = hasher
    if (hasher.owner !== this) this.#enter(hasher)
    const length = bytes.write(text, textAt, maxBytes, 'utf8')
    const end = textAt + Math.ceil(length / nhUnit) * nhUnit
    bytes.fill(0, textAt + length, end)
    bytes.writeUInt32LE(length, inputAt)
    let out = inputAt + lengthBytes
    for (let from = textAt; from < end; from += partBytes, out += nhBytes)
      nh(from, Math.min(from + partBytes, end), 0, out)
    return this.#sums.ofBytes(bytes, inputAt, out)
  }

  #enter(hasher: Hasher): void {
    this.#key.copy(hasher.bytes, 0)
    hasher.owner = this
  }
}
