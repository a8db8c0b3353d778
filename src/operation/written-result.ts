import type { Populate } from '../criteria/criteria.ts'
import { ServiceError } from '../protocol/errors.ts'
import { boundedReads } from '../storage/byte-budget.ts'
import { PostponedRead } from '../storage/driver.ts'
import type { ScopedStore, ScopedTransaction } from '../storage/scoped-store.ts'
import type { Records } from '../storage/store.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import { embed } from './embed.ts'
import type { EmptyResult, Invocation, OperationServices, RecordResult } from './operation.ts'

type Write = Pick<Invocation<{ readonly populate: readonly Populate[] }>, 'input' | 'target' | 'client'>

/** The result of writing one record: what the requester may see of it, which may be nothing, with what is embedded in it. */
export async function writtenResult(
  written: Records,
  write: Write,
  store: ScopedStore,
  services: OperationServices,
  created: boolean,
): Promise<RecordResult | EmptyResult> {
  const { model } = write.target
  const { populate } = write.input
  const stored = store.reveal ? await store.reveal(model, written) : written
  if (stored.length === 0) return { kind: 'empty' }
  return {
    kind: 'record',
    created,
    model,
    records: await embedWritten(stored, write, store, services),
    populate,
    stored,
  }
}

/**
 * As `writtenResult`, within the transaction that writes many records. If the records are too large for an answer, it throws, so
 * that nothing is written. Undefined if the read would delay other transactions: it is made after the commit.
 */
export async function embedWithin(
  stored: Records,
  { input: { populate }, client }: Write,
  transaction: ScopedTransaction,
  { limits: { maxAnswerBytes } }: OperationServices,
): Promise<Records | undefined> {
  try {
    return await embed(stored, populate, transaction, boundedReads(client, maxAnswerBytes, true))
  } catch (error) {
    if (error instanceof PostponedRead) return undefined
    throw error
  }
}

/**
 * After the commit, records that are too large for an answer fail only when they are encoded, because the write must be answered.
 * Within a transaction, such a read ends the transaction and nothing is written.
 */
export async function embedWritten(
  stored: Records,
  { input: { populate }, client }: Write,
  store: ScopedStore,
  { limits: { maxAnswerBytes } }: OperationServices,
  complete: (embedded: Records) => MaybePromise<Records> = (embedded) => embedded,
): Promise<Records> {
  const read = async () => complete(await embed(stored, populate, store, boundedReads(client, maxAnswerBytes)))
  if (store.isWithin) return read()
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof ServiceError) || error.details.limit !== 'maxAnswerBytes') throw error
    const fail = (): never => {
      throw error
    }
    return stored.embed(populate.map(({ association: { name } }) => ({ name, encode: fail, decode: fail })))
  }
}
