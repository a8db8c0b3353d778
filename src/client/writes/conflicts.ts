import { isJsonObject, type JsonObject } from '../../protocol/json.ts'
import { ConflictError, type RequestError } from '../errors.ts'
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
  /** Called before a write is sent: its key and its tag have to outlive the page. */
  save(): void
}

/** The tag of no version. */
const noVersion = '"-"'

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
    // To the service a key is that of one request, with its If-Match: repeated with another it would be refused.
    const isFree = !new Headers(write.headers).has('If-Match')
    if (wasKept && isFree && write.kind !== 'create') write.tag ??= await this.#checked(write)
    for (;;) {
      try {
        this.#wire.save()
        return await this.#wire.write(write, {
          signal: write.signal,
          headers: {
            ...write.headers,
            ...(this.#options && { 'Idempotency-Key': write.key }),
            ...(write.tag && { 'If-Match': write.tag }),
          },
        })
      } catch (error) {
        if (write.tag && (error as RequestError).code === 'E_IDEMPOTENCY_MISMATCH') {
          // The write has taken place when it was first sent, without If-Match.
          write.tag = undefined
          continue
        }
        // The If-Match of the caller says what may be replaced.
        if (!this.#options || !isFree || !(error instanceof ConflictError)) throw error
        const theirs = write.kind === 'create' ? undefined : await this.#wire.read(write)
        // Another request.
        write.key = randomId()
        if (!(error.status === 412 && theirs && write.base && isMergeable(write, theirs.record)))
          await this.#decide(write, theirs, error)
        write.tag = theirs?.tag
      }
    }
  }

  /**
   * The tag of the version that a kept write may replace. Where there is a conflict, one that the service refuses, unless
   * the write has taken place already and only its answer was lost.
   */
  async #checked(write: PendingWrite): Promise<string | undefined> {
    if (!write.base) return this.#wire.tagOf(write)
    const theirs = await this.#wire.read(write)
    return theirs && !isMergeable(write, theirs.record) ? noVersion : theirs?.tag
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
