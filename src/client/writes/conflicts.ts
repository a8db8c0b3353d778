import { isJsonObject, type JsonObject } from '../../protocol/json.ts'
import { ConflictError } from '../errors.ts'
import type { Answer, CallOptions } from '../options.ts'
import { randomId } from '../random.ts'
import { isComposite, isSame } from '../same.ts'
import type { OutboxOptions } from './outbox-options.ts'
import { described, type PendingWrite } from './pending-write.ts'

/** A record as it is stored, with the tag of its version. */
interface Stored {
  readonly record: JsonObject
  readonly tag: string | undefined
}

/** How a write and a read are sent; the client provides both. */
export interface Wire {
  write(write: PendingWrite, call: CallOptions): Promise<Answer>
  /** Undefined when there is no such record. */
  read(write: PendingWrite): Promise<Stored | undefined>
  /** The tag of the version that was received last. */
  tagOf(write: PendingWrite): string | undefined
}

/**
 * Sends a write so that it does not replace what it has not seen: a kept update or destroy names the version that it is
 * based on. Changes of other attributes are merged; other conflicts are decided by `onConflict`.
 */
export class ConflictSender {
  readonly #wire: Wire
  readonly #options: OutboxOptions | undefined

  constructor(wire: Wire, options: OutboxOptions | undefined) {
    this.#wire = wire
    this.#options = options
  }

  async send(write: PendingWrite, wasKept: boolean): Promise<Answer> {
    let tag = wasKept && write.kind !== 'create' ? await this.#checked(write) : undefined
    for (;;) {
      try {
        return await this.#wire.write(write, {
          signal: write.signal,
          headers: {
            ...write.headers,
            ...(this.#options && { 'Idempotency-Key': write.key }),
            ...(tag !== undefined && { 'If-Match': tag }),
          },
        })
      } catch (error) {
        if (!this.#options || !(error instanceof ConflictError)) throw error
        const theirs = write.kind === 'create' ? undefined : await this.#wire.read(write)
        // The answer to the old key is this refusal.
        write.key = randomId()
        if (error.status !== 412 || !theirs || !write.base || !isMergeable(write, theirs.record))
          await this.#decide(write, theirs, error)
        tag = theirs?.tag
      }
    }
  }

  /** The tag of the version that a kept write may replace. */
  async #checked(write: PendingWrite): Promise<string | undefined> {
    if (!write.base) return this.#wire.tagOf(write)
    const theirs = await this.#wire.read(write)
    if (theirs && !isMergeable(write, theirs.record)) {
      const detail = 'The record was changed'
      await this.#decide(write, theirs, new ConflictError(412, { code: 'E_PRECONDITION_FAILED', detail }))
    }
    return theirs?.tag
  }

  /** Replaces the values by what `onConflict` resolves with; rejects when it gives the write up. */
  async #decide(write: PendingWrite, theirs: Stored | undefined, error: ConflictError): Promise<void> {
    const decided = await this.#options?.onConflict?.(described(write), theirs?.record)
    if (!decided) throw error
    write.values = decided
    write.base = theirs?.record
  }
}

/** Whether the stored record differs from the one that the write is based on only where the write does not matter. */
function isMergeable({ kind, values, base = {} }: PendingWrite, theirs: JsonObject): boolean {
  const names = kind === 'destroy' ? Object.keys(base).filter((name) => !isComposite(base[name])) : Object.keys(values)
  return names.every((name) => {
    const [mine, shown, stored] = [values[name], base[name], theirs[name]]
    if (stored === undefined || isSame(shown, stored) || isSame(mine, stored)) return true
    // An embedded record, of which the stored record has the key.
    return isJsonObject(shown) && Object.values(shown)[0] === stored
  })
}
