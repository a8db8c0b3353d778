import { ServiceError } from '../protocol/errors.ts'
import type { WaitingBytes } from '../support/waiting-bytes.ts'

/** Estimated memory per comma, colon and opening square bracket. */
const bytesPerValue = 128

/** Estimated memory per object: a new record without values takes 1 to 1.5 kB until it is stored. */
const bytesPerObject = 1024

/** A body with more is refused before it is parsed, by the default of `maxJsonValues`. */
const maxObjects = 150_000

/** A shorter body with few objects is not counted: thousands of them take less memory than their connections. */
const weighedLength = 1024
const weighedObjects = 5

/** A form and an XML body create at most so many records, by the defaults of `maxParameters` and `maxAssociated`. */
const maxFormRecords = 1000

const [quote, backslash, brace, bracket, equals, lessThan] = [0x22, 0x5c, 0x7b, 0x5b, 0x3d, 0x3c]
/** 1 for each byte that precedes a name or a value. */
const separators = Uint8Array.from({ length: 256 }, (_, byte) => (',:['.includes(String.fromCharCode(byte)) ? 1 : 0))

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

/** Whether the body may take more memory than its connection. */
export function isWeighed(body: Uint8Array | string): boolean {
  if (body.length > weighedLength || (typeof body !== 'string' && !beginsWithBracket(body))) return true
  let at = -1
  for (let objects = 0; objects < weighedObjects; objects++) {
    at = typeof body === 'string' ? body.indexOf('{', at + 1) : body.indexOf(brace, at + 1)
    if (at === -1) return false
  }
  return true
}

/** Throws as `take`. Returns undefined for a body that is not counted. */
export function takeWeight(body: Uint8Array | string, waiting: WaitingBytes): BodyWeight | undefined {
  if (!isWeighed(body)) return undefined
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

/** As JSON does, unless it begins with a space. */
const beginsWithBracket = (body: Uint8Array): boolean => body[0] === brace || body[0] === bracket

/** Estimates the memory that a JSON body takes while its request is executed: for a list of `{}`, 400 times its length. */
function weigh(body: Uint8Array | string): number {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  let values = 1
  let objects = 0
  // Separators within texts are counted as well. To skip texts would take several times as long if they are short or contain
  // quotation marks.
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === brace) objects++
    else if (byte !== quote) values += separators[byte] as number
    else while (++at < bytes.length && bytes[at] !== quote) if (bytes[at] === backslash) at++
  }
  if (!beginsWithBracket(bytes)) objects += recordsOfForm(bytes)
  return 2 * bytes.length + values * bytesPerValue + Math.min(objects, maxObjects) * bytesPerObject
}

/** How many records a form, parts or XML may create. In these, quotation marks enclose no text. */
function recordsOfForm(bytes: Uint8Array): number {
  let records = 0
  for (let at = 0; at < bytes.length && records < maxFormRecords; at++)
    if (bytes[at] === equals || bytes[at] === lessThan) records++
  return records
}
