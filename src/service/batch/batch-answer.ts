import { type ErrorListener, errorResponse } from '../../protocol/error-response.ts'
import { ServiceError } from '../../protocol/errors.ts'
import { EncodedJson, isEncoded, type Json } from '../../protocol/json.ts'
import type { ServiceResponse } from '../../protocol/request.ts'
import type { BatchItem } from './read-batch.ts'
import type { AnswerBodies } from './references.ts'

const textOf = ({ body }: ServiceResponse): string | undefined =>
  body === undefined ? undefined : isEncoded(body) ? body.encoded : JSON.stringify(body)

/** The answers to the requests of a batch, as far as they were executed, and what later requests may refer to. */
export class BatchAnswers {
  readonly #maxBytes: number
  readonly #texts: string[] = []
  readonly #bodies: (string | undefined)[] = []
  readonly #failed = new Set<number>()
  readonly #parsed = new Map<number, Json>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The bytes that answers may still have. */
  get left(): number {
    return Math.max(0, this.#maxBytes - this.#bytes)
  }

  /** Throws E_BAD_CRITERIA for an answer that is sent in pieces, which a list cannot contain. */
  add(response: ServiceResponse): void {
    if (response.stream)
      throw new ServiceError('E_BAD_REQUEST', 'A batch cannot contain a request that is answered with a stream')
    const { status, headers } = response
    const body = textOf(response)
    if (status >= 400) this.#failed.add(this.#texts.length)
    const tail = body === undefined ? '}' : `,"body":${body}}`
    const text = `{"status":${status},"headers":${JSON.stringify(headers)}${tail}`
    this.#bytes += Buffer.byteLength(text)
    this.#texts.push(text)
    this.#bodies.push(body)
  }

  /** The answer to an earlier request, for references to it. Throws E_NOT_EXECUTED where it failed. */
  readonly bodyOf: AnswerBodies = (index) => {
    if (this.#failed.has(index))
      throw new ServiceError('E_NOT_EXECUTED', `Request ${index} of the batch, which this one refers to, failed`)
    const known = this.#parsed.get(index)
    if (known !== undefined) return known
    const text = this.#bodies[index]
    if (text === undefined) return undefined
    const body: Json = JSON.parse(text)
    this.#parsed.set(index, body)
    return body
  }

  respond(): ServiceResponse {
    return { status: 200, headers: {}, body: new EncodedJson(`[${this.#texts.join(',')}]`) }
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
  const answers = new BatchAnswers(Number.POSITIVE_INFINITY)
  for (const { index } of items) answers.add(index === failed ? response : others)
  const { 'Content-Type': _, ...headers } = response.headers
  return { ...answers.respond(), status: response.status, headers }
}
