import { ServiceError } from '../protocol/errors.ts'
import type { WaitingBytes } from '../support/waiting-bytes.ts'

/**
 * Estimated memory per comma, colon and opening bracket. An empty record, `{},` in a list, takes about twice this much until it
 * is stored.
 */
const bytesPerValue = 128

/** A shorter body is not counted: thousands of them take less memory than their connections. */
export const weighedLength = 1024

const [quote, backslash] = [0x22, 0x5c]
/** 1 for each byte that precedes a name or a value. */
const separators = Uint8Array.from({ length: 256 }, (_, byte) => (',:[{'.includes(String.fromCharCode(byte)) ? 1 : 0))

/**
 * The estimated memory of a body from parsing until its request has been executed, counted over all connections: many writes may
 * wait in the queue at once.
 */
export class BodyWeight {
  readonly #body: Uint8Array | string
  readonly #waiting: WaitingBytes
  #taken = 0

  constructor(body: Uint8Array | string, waiting: WaitingBytes) {
    this.#body = body
    this.#waiting = waiting
  }

  /**
   * Called before the body is parsed. Throws E_UNAVAILABLE if all bodies together exceed the budget, and E_BODY_TOO_LARGE if this
   * one alone does.
   */
  take(): void {
    const weight = weigh(this.#body)
    if (weight > this.#waiting.maxBytes) throw tooHeavy(weight, this.#waiting)
    if (!this.#waiting.take(weight)) throw tooMuch()
    this.#taken = weight
  }

  giveBack(): void {
    this.#waiting.giveBack(this.#taken)
    this.#taken = 0
  }
}

/** Throws as `take`. Returns undefined for a short body. */
export function takeWeight(body: Uint8Array | string, waiting: WaitingBytes): BodyWeight | undefined {
  if (body.length <= weighedLength) return undefined
  const weight = new BodyWeight(body, waiting)
  weight.take()
  return weight
}

const tooMuch = (): ServiceError =>
  new ServiceError('E_UNAVAILABLE', 'Too many large requests are being executed', {
    limit: 'maxWaitingBytes',
    headers: { 'Retry-After': '1' },
  })

/** Not E_UNAVAILABLE: a repetition of the request would take as much. */
const tooHeavy = (weight: number, { maxBytes }: WaitingBytes): ServiceError =>
  new ServiceError(
    'E_BODY_TOO_LARGE',
    `While it is executed, the body takes about ${weight} bytes, and all requests together may take ${maxBytes}`,
    { limit: 'maxWaitingBytes' },
  )

/** Estimates the memory that a JSON body takes while its request is executed: for a list of `{}`, a hundred times its length. */
function weigh(body: Uint8Array | string): number {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  let values = 1
  // Separators within texts are counted as well. To skip texts would take several times as long if they are short or contain
  // quotation marks.
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte !== quote) values += separators[byte] as number
    else while (++at < bytes.length && bytes[at] !== quote) if (bytes[at] === backslash) at++
  }
  return 2 * bytes.length + values * bytesPerValue
}
