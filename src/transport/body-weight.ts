import { ServiceError } from '../protocol/errors.ts'
import type { WaitingBytes } from '../support/waiting-bytes.ts'

/** For each comma, colon and opening bracket: a new record without values, `{},`, takes about twice as much until it is stored. */
const bytesPerValue = 128

/** A shorter body is not looked at: thousands of them take less than the connections that they arrive on. */
export const weighedLength = 1024

const [quote, backslash] = [0x22, 0x5c]
/** 1 for each byte that precedes a name or a value. */
const separators = Uint8Array.from({ length: 256 }, (_, byte) => (',:[{'.includes(String.fromCharCode(byte)) ? 1 : 0))

/** What a body takes while its request is executed, of which writes wait for their turn, counted over all connections. */
export class BodyWeight {
  readonly #body: Uint8Array | string
  readonly #waiting: WaitingBytes
  #taken = 0

  constructor(body: Uint8Array | string, waiting: WaitingBytes) {
    this.#body = body
    this.#waiting = waiting
  }

  /** Before the body is parsed. Throws E_UNAVAILABLE when there is too much already, and E_BODY_TOO_LARGE when it alone is. */
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

/** Throws as `take`. Undefined: the body is short. */
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

/** When its client repeats it later, it takes as much. */
const tooHeavy = (weight: number, { maxBytes }: WaitingBytes): ServiceError =>
  new ServiceError(
    'E_BODY_TOO_LARGE',
    `While it is executed, the body takes about ${weight} bytes, and all requests together may take ${maxBytes}`,
    { limit: 'maxWaitingBytes' },
  )

/** About how many bytes a body in JSON takes while its request is executed: a list of `{}` takes a hundred times its length. */
function weigh(body: Uint8Array | string): number {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  let values = 1
  // Byte by byte also in texts: to look for the end of each takes several times as long where they are short, or have quotation marks.
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte !== quote) values += separators[byte] as number
    else while (++at < bytes.length && bytes[at] !== quote) if (bytes[at] === backslash) at++
  }
  return 2 * bytes.length + values * bytesPerValue
}
