import type { Populate } from '../../criteria/criteria.ts'
import type { Invocation } from '../../operation/operation.ts'
import { operations } from '../../operation/operations.ts'
import { isOneStatement, type PreparedRecord } from '../../operation/prepare-record.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import type { ServiceRequest } from '../../protocol/request.ts'
import type { ScopedStore } from '../../storage/scoped-store.ts'
import type { WriteReceipt } from '../../storage/write-origin.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { Limits } from '../../support/limits.ts'
import { assertMayWrite } from '../dispatch/answer-write.ts'
import { type Authorization, assertAllowed } from '../dispatch/authorize.ts'
import type { DispatchContext } from '../dispatch/context.ts'
import { invocationOf, type Plan, planOf } from '../dispatch/resolve.ts'
import type { BatchItem } from './read-batch.ts'
import { type AnswerBodies, referenceIn, resolve, urlReferences, withUrlValues, withValues } from './references.ts'
import { ResolvedSize } from './resolved-size.ts'

/** A batch on behalf of a requester. */
export interface Batch {
  readonly items: readonly BatchItem[]
  readonly request: ServiceRequest
  readonly authorization: Authorization
  /** The receipt of all writes of the batch. */
  readonly receipt: WriteReceipt
}

/** A request of a batch that is ready to be executed. */
export interface BatchStep {
  readonly request: ServiceRequest
  readonly match: Plan['match']
  readonly invocation: Invocation
  /** The result of `prepare`, for a write. */
  readonly prepared: unknown
}

type PlannedStep = Omit<BatchStep, 'prepared'>

/** A request of a batch as the service takes it. */
export function requestOf({ method, url, body, headers }: BatchItem, batch: ServiceRequest): ServiceRequest {
  const [target = ''] = url.split('#', 1)
  const mark = target.indexOf('?')
  return {
    method,
    path: mark === -1 ? target : target.slice(0, mark),
    query: mark === -1 ? '' : target.slice(mark + 1),
    base: batch.base,
    body,
    headers,
    site: batch.site,
    originAllowed: batch.originAllowed,
    inBatch: true,
  }
}

/**
 * The request with the values that it refers to, in a later turn where these took long: an answer is parsed for them, and they
 * are validated next. Rejects where the request is larger than one may be.
 */
export async function resolved(item: BatchItem, bodies: AnswerBodies, limits: Limits): Promise<BatchItem> {
  const { url, references } = item
  const body = references > 0 ? withValues(item.body as Json, bodies, new ResolvedSize(limits)) : item.body
  const whole = { ...item, url: withUrlValues(url, bodies, limits), body }
  if (eventLoopTurn.isUsed) await eventLoopTurn.next()
  return whole
}

/**
 * Whether a request creates one record by one statement and embeds nothing in its answer. It can be sent without waiting for the
 * requests before it.
 */
export function isIndependent(
  { invocation: { operation, input }, prepared }: BatchStep,
  { services, policy }: DispatchContext,
): boolean {
  if (operation.name !== operations.create.name || services.hooks || policy) return false
  const { populate } = input as { readonly populate: readonly Populate[] }
  return populate.length === 0 && isOneStatement(prepared as PreparedRecord, services)
}

const missing: ReadonlySet<string> = new Set(['E_NO_SUCH_RECORD', 'E_FORBIDDEN', 'E_PRECONDITION_FAILED'])

/** Operations that select their records by values. Earlier requests of the batch may change which records that are. */
const selecting: ReadonlySet<string> = new Set(
  [operations.upsert, operations.updateMany, operations.destroyMany].map(({ name }) => name),
)

/**
 * Whether an error may disappear once earlier requests have been executed. For example, an upsert is prepared as a create if an
 * earlier request is about to create the record; required values may be missing, or a hook may refuse.
 */
const dependsOnEarlier = ({ code }: ServiceError, step: PlannedStep | undefined): boolean =>
  missing.has(code) || (step !== undefined && selecting.has(step.match.operation.name))

/** Turns the requests of one batch into steps. */
export class BatchSteps {
  readonly #batch: Batch
  readonly #context: DispatchContext

  constructor(batch: Batch, context: DispatchContext) {
    this.#batch = batch
    this.#context = context
  }

  /** Resolves the names of a request, checks what can be checked of it, and runs its preparation. */
  async prepare(item: BatchItem, store: ScopedStore, bodies?: AnswerBodies): Promise<BatchStep> {
    const step = this.#plan(item, bodies)
    return { ...step, prepared: await this.#prepared(step, store) }
  }

  #plan(item: BatchItem, bodies?: AnswerBodies): PlannedStep {
    let references = 0
    const laterValue = (raw: JsonObject) => {
      const reference = bodies && referenceIn(raw)
      if (!reference) return undefined
      references++
      return () => resolve(reference, bodies)
    }
    const { request: batch, authorization, receipt } = this.#batch
    const request = requestOf(item, batch)
    const { access, requester } = authorization
    const plan = planOf(access, this.#context, request, bodies && laterValue)
    if (bodies && references < item.references) throw new NeedsAnswers()
    const { match } = plan
    if (match.operation.effect === 'writes') assertMayWrite({ ...request, headers: batch.headers }, match)
    if (access) assertAllowed(match.operation, match, access)
    const invocation = {
      ...invocationOf(plan, requester, request, receipt),
      client: batch.peer ?? batch,
      headers: { ...batch.headers, ...request.headers },
    }
    return { request, match, invocation }
  }

  #prepared({ invocation }: PlannedStep, store: ScopedStore): unknown {
    const { operation } = invocation
    return operation.effect === 'writes' ? operation.prepare(invocation, store, this.#context.services) : undefined
  }

  /**
   * As `prepare`, before the transaction: undefined for a request that needs the answers of earlier ones, or a record that
   * one of them may create.
   */
  async prepareEarly(item: BatchItem, store: ScopedStore, bodies: AnswerBodies): Promise<BatchStep | undefined> {
    if (urlReferences(item.url).length > 0) return undefined
    let step: PlannedStep | undefined
    try {
      step = this.#plan(item, bodies)
      return { ...step, prepared: await this.#prepared(step, store) }
    } catch (error) {
      const isLate = error instanceof NeedsAnswers
      const mayAppear = item.index > 0 && error instanceof ServiceError && dependsOnEarlier(error, step)
      if (isLate || mayAppear || item.references > 0) return undefined
      throw error
    }
  }
}

/** The request has references in place of values that no attribute accepts, so it cannot be parsed before they are known. */
class NeedsAnswers extends Error {}
