import type { Change, RecordId } from '../../protocol/change.ts'
import { getOrInsertComputed } from '../../support/get-or-insert-computed.ts'
import type { StartPosition, StartPositions } from '../start-position.ts'
import { recordKey } from './echo-suppression.ts'
import type { RequestedRecords } from './subscription-request.ts'

const none: readonly never[] = []

/** A record that a socket has created. */
interface Creation {
  /** Whether the socket was subscribed to an earlier record with its key. */
  readonly wasSubscribed: boolean
}

/** A read that returned records to which the socket was subscribed before. */
class RepeatedRead {
  readonly start: StartPosition
  readonly #records: readonly RequestedRecords[]
  #keys: ReadonlySet<string> | undefined

  constructor(records: readonly RequestedRecords[], start: StartPosition) {
    this.#records = records
    this.start = start
  }

  /** Whether it returned the record. The set is made for the first question: most reads get none, and one may get thousands. */
  returned(model: string, id: RecordId): boolean {
    this.#keys ??= new Set(this.#records.flatMap(({ model, ids }) => ids.map((id) => recordKey(model, id))))
    return this.#keys.has(recordKey(model, id))
  }
}

/**
 * Tells which of two records with one key a `destroyed` concerns, where the key was used again before the feed has delivered it:
 * a socket that has created or read the later record stays subscribed to it.
 */
export class RecreatedRecords {
  readonly #starts: StartPositions
  /** What the socket has created and whose `created` the feed has not passed, by its keys. Undefined: nothing. */
  #creations: Map<string, Creation[]> | undefined
  /** Reads whose positions the feed has not passed, the last one at the end. */
  #repeatedReads: readonly RepeatedRead[] = none

  constructor(starts: StartPositions) {
    this.#starts = starts
  }

  /** Until the feed has passed their `created`, or the result is called, `destroyed` is that of an earlier record with their key. */
  expectCreated(
    records: readonly RequestedRecords[],
    isSubscribedTo: (model: string, id: RecordId) => boolean,
  ): () => void {
    this.#creations ??= new Map()
    const expected: (readonly [key: string, creation: Creation])[] = []
    for (const { model, ids } of records) {
      for (const id of ids) {
        const key = recordKey(model, id)
        const creation = { wasSubscribed: isSubscribedTo(model, id) }
        getOrInsertComputed(this.#creations, key, () => [] as Creation[]).push(creation)
        expected.push([key, creation])
      }
    }
    return () => {
      for (const [key, creation] of expected) this.#forget(key, creation)
    }
  }

  /** The feed has reached the `created` of a record that the socket has created. */
  onCreated(model: string, id: RecordId): void {
    if (!this.#creations) return
    const key = recordKey(model, id)
    this.#forget(key, this.#creations.get(key)?.[0])
  }

  /** Where `destroyed` is about an earlier record with the key of one that the socket has created: the latter. */
  createdSince(model: string, id: RecordId): Creation | undefined {
    return this.#creations?.get(recordKey(model, id))?.[0]
  }

  /** Until the result is called, `destroyed` of a change that the read includes is that of an earlier record than the one it returned. */
  expectRead(records: readonly RequestedRecords[], start: StartPosition): () => void {
    const read = new RepeatedRead(records, start)
    this.#repeatedReads = [...this.#repeatedReads, read]
    return () => {
      this.#repeatedReads = this.#repeatedReads.filter((other) => other !== read)
    }
  }

  /** Where the subscription begins to the record that was returned after the one that `destroyed` is about. */
  readSince(model: string, id: RecordId, change: Change): StartPosition | undefined {
    return this.#repeatedReads.findLast((read) => this.#starts.hasRead(read.start, change) && read.returned(model, id))
      ?.start
  }

  #forget(key: string, creation: Creation | undefined): void {
    const others = this.#creations?.get(key)?.filter((other) => other !== creation) ?? []
    if (others.length > 0) this.#creations?.set(key, others)
    else this.#creations?.delete(key)
    if (this.#creations?.size === 0) this.#creations = undefined
  }
}
