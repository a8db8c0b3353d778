import { createHash } from 'node:crypto'

/** Of the characters that a SHA-1 has in base64url. */
export const fingerprintLength = 22

/** The fingerprint of a text that comes in parts. */
export class Fingerprint {
  readonly #hash = createHash('sha1')

  add(part: Uint8Array): void {
    this.#hash.update(part)
  }

  end(): string {
    return this.#hash.digest('base64url').slice(0, fingerprintLength)
  }
}
