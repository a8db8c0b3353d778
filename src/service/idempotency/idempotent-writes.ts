import { hash } from 'node:crypto'
import { ServiceError } from '../../protocol/errors.ts'
import { EncodedJson, isEncoded } from '../../protocol/json.ts'
import type { ServiceRequest, ServiceResponse } from '../../protocol/request.ts'
import type { Requester } from '../../protocol/requester.ts'
import { integrity, type ScopedTransaction } from '../../storage/scoped-store.ts'
import type { StoredAnswer, StoredAnswers } from '../../storage/stored-answers.ts'
import { assertDefined } from '../../support/assert.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import { identityOf } from '../live/operation-tokens.ts'

/** Stores the answer in the transaction of the write. */
export type StoreAnswer = (transaction: ScopedTransaction, response: ServiceResponse) => Promise<void>

const maxKeyLength = 255

/** Writes that carry an `Idempotency-Key`: a repetition is answered with the stored answer and writes nothing. */
export class IdempotentWrites {
  readonly #answers: StoredAnswers | undefined
  readonly #now: () => number
  /** The keys of writes that this process is executing. */
  readonly #underWay = new Set<string>()

  constructor(answers: StoredAnswers | undefined, now: () => number) {
    this.#answers = answers
    this.#now = now
  }

  /** Answers a request whose headers contain a key. `write` is to call `keep` in its transaction. */
  async answer(
    request: ServiceRequest,
    requester: Requester,
    write: (keep: StoreAnswer) => Promise<ServiceResponse>,
  ): Promise<ServiceResponse> {
    if (!this.#answers) throw new ServiceError('E_BAD_REQUEST', 'Idempotency-Key is not supported by this database')
    const id = seal(JSON.stringify([identity(requester), keyOf(request)]))
    const fingerprint = fingerprintOf(request)
    await this.#answers.prepare()
    if (this.#underWay.has(id)) throw underWay()
    this.#underWay.add(id)
    try {
      const stored = await this.#answers.find(id)
      // A long answer took long to read, and takes as long to send.
      if (stored && eventLoopTurn.isUsed) await eventLoopTurn.next()
      if (stored) return replay(stored, fingerprint)
      return await write(async (transaction, response) => {
        const { status, headers } = response
        const answer = { id, request: fingerprint, status, headers: JSON.stringify(headers), body: textOf(response) }
        const all = integrity(transaction)
        const keep = assertDefined(all.keepAnswer, 'a transaction that keeps no answers')
        if (!(await keep.call(all, { ...answer, at: this.#now() }))) throw underWay()
      })
    } finally {
      this.#underWay.delete(id)
    }
  }
}

function keyOf({ headers }: ServiceRequest): string {
  const key = String(headers['idempotency-key'])
  if (key.length >= 1 && key.length <= maxKeyLength) return key
  throw new ServiceError('E_BAD_REQUEST', `Idempotency-Key has 1 to ${maxKeyLength} characters`)
}

const identity = (requester: Requester): string =>
  requester.kind === 'user' ? identityOf(requester.user) : requester.kind

/** What tells requests apart. A body is compared as JSON: white space and the format that it was sent in do not matter. */
const fingerprintOf = ({ method, path, query, body, headers }: ServiceRequest): string =>
  seal(
    JSON.stringify([method, path, query, body ?? null, headers['if-match'] ?? null, headers['if-none-match'] ?? null]),
  )

const seal = (text: string): string => hash('sha256', text, 'base64url')

const textOf = ({ body }: ServiceResponse): string | null =>
  body === undefined ? null : isEncoded(body) ? body.encoded : JSON.stringify(body)

function replay({ request, status, headers, body }: StoredAnswer, fingerprint: string): ServiceResponse {
  if (request !== fingerprint)
    throw new ServiceError('E_IDEMPOTENCY_MISMATCH', 'This Idempotency-Key was used for another request')
  return {
    status,
    headers: { ...JSON.parse(headers), 'Idempotency-Replayed': 'true' },
    ...(body !== null && { body: new EncodedJson(typeof body === 'string' ? body : partsOf(body)) }),
  }
}

/** Written in parts of this many bytes, each when the client has read those before it. */
const partBytes = 65_536

const partsOf = (body: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: Math.ceil(body.length / partBytes) }, (_, index) =>
    body.subarray(index * partBytes, (index + 1) * partBytes),
  )

const underWay = (): ServiceError =>
  new ServiceError('E_CONFLICT', 'A request with this Idempotency-Key is being executed', {
    headers: { 'Retry-After': '1' },
  })
