import { type ErrorListener, errorResponse } from '../../protocol/error-response.ts'
import { ServiceError } from '../../protocol/errors.ts'
import { EncodedJson, isEncoded, type Json } from '../../protocol/json.ts'
import type { ServiceResponse } from '../../protocol/request.ts'
import { endUnread } from '../../support/end-unread.ts'
import type { Limits } from '../../support/limits.ts'
import type { BatchItem } from './read-batch.ts'
import type { AnswerBodies } from './references.ts'

/** A longer answer is encoded in parts of about this many characters, as its requests are executed. */
const partLength = 65_536

const encodedBody = ({ body }: ServiceResponse): EncodedJson | undefined =>
  body === undefined || isEncoded(body) ? body : new EncodedJson(JSON.stringify(body))

type AnswerLimits = Pick<Limits, 'maxAnswerBytes' | 'maxBodyBytes'>

const lengthOf = ({ parts, text = '' }: EncodedJson): number =>
  parts ? parts.reduce((sum, { length }) => sum + length, 0) : text.length

/** The answers to the executed requests of a batch, and the values in them that later requests may refer to. */
export class BatchAnswers {
  readonly #limits: AnswerLimits
  readonly #bodies: (EncodedJson | undefined)[] = []
  /** `#parts`: encoded parts of the answer. `#rest`: text that follows them and is not encoded yet. */
  readonly #parts: Uint8Array[] = []
  #rest = '['
  readonly #failed = new Set<number>()
  readonly #parsed = new Map<number, Json>()
  #bytes = 0

  constructor(limits: AnswerLimits) {
    this.#limits = limits
  }

  /** How many more bytes the answers may have. */
  get left(): number {
    return Math.max(0, this.#limits.maxAnswerBytes - this.#bytes)
  }

  /** Throws E_BAD_REQUEST for an answer that is sent in pieces, which a list cannot contain, and ends it. */
  add(response: ServiceResponse): void {
    // The stream is discarded, so its errors are ignored.
    if (response.stream) {
      endUnread(response.stream, () => {})
      throw new ServiceError('E_BAD_REQUEST', 'A batch cannot contain a request that is answered with a stream')
    }
    const { status, headers } = response
    const body = encodedBody(response)
    if (status >= 400) this.#failed.add(this.#bodies.length)
    const head = `{"status":${status},"headers":${JSON.stringify(headers)}`
    this.#append(this.#bodies.length === 0 ? head : `,${head}`)
    this.#bodies.push(body)
    if (body?.parts) {
      this.#append(',"body":')
      this.#encodeRest()
      for (const part of body.parts) this.#bytes += part.length
      this.#parts.push(...body.parts)
    } else if (body) this.#append(`,"body":${body.encoded}`)
    this.#append('}')
    if (this.#rest.length >= partLength) this.#encodeRest()
  }

  #append(text: string): void {
    this.#bytes += Buffer.byteLength(text)
    this.#rest += text
  }

  #encodeRest(): void {
    this.#parts.push(Buffer.from(this.#rest))
    this.#rest = ''
  }

  /**
   * The answer to an earlier request, for references to it. Throws E_NOT_EXECUTED where it failed, and E_BAD_REQUEST where it is
   * longer than a body may be: it is parsed in one turn of the event loop, as a body is.
   */
  readonly bodyOf: AnswerBodies = (index) => {
    if (this.#failed.has(index))
      throw new ServiceError('E_NOT_EXECUTED', `Request ${index} of the batch, which this one refers to, failed`)
    const known = this.#parsed.get(index)
    if (known !== undefined) return known
    const encoded = this.#bodies[index]
    if (!encoded) return undefined
    const { maxBodyBytes } = this.#limits
    if (lengthOf(encoded) > maxBodyBytes)
      throw new ServiceError(
        'E_BAD_REQUEST',
        `The answer to request ${index} of the batch, which this one refers to, is longer than ${maxBodyBytes} bytes`,
        { limit: 'maxBodyBytes' },
      )
    const body: Json = JSON.parse(encoded.encoded)
    this.#parsed.set(index, body)
    return body
  }

  respond(): ServiceResponse {
    const rest = `${this.#rest}]`
    const isLong = this.#parts.length > 0
    return { status: 200, headers: {}, body: new EncodedJson(isLong ? [...this.#parts, Buffer.from(rest)] : rest) }
  }
}

/** The answer to a batch of which nothing was executed because one request failed; its status is that of this request. */
export function failedBatch(
  items: readonly BatchItem[],
  failed: number,
  error: unknown,
  onError: ErrorListener,
): ServiceResponse {
  const response = errorResponse(error, onError)
  const others = errorResponse(
    new ServiceError('E_NOT_EXECUTED', `Nothing of the batch was executed, because request ${failed} failed`),
    onError,
  )
  const answers = new BatchAnswers({ maxAnswerBytes: Number.POSITIVE_INFINITY, maxBodyBytes: 0 })
  for (const { index } of items) answers.add(index === failed ? response : others)
  const { 'Content-Type': _, ...headers } = response.headers
  return { ...answers.respond(), status: response.status, headers }
}
