import type { RecordId } from '../../protocol/change.ts'

/** A write over a socket, from before it begins until the feed has passed it. */
export interface PendingWrite {
  /** The records of which changes by others were delivered to the socket meanwhile. */
  readonly delivered: Set<string>
  /** The socket was answered that it failed, although it may have been committed. */
  hasFailed: boolean
}

/**
 * Suppresses events of a socket's own changes, whose result the socket has in the response; `Mirror` says which verbs are
 * suppressed. Exception: if another client's earlier change of the same record may be delivered after the response, the own
 * change is delivered too, so that the last event matches the stored state.
 */
export class EchoSuppression {
  /** Undefined while there are none, to save memory: most sockets do not write. */
  #writes: Set<PendingWrite> | undefined

  begin(): PendingWrite {
    const write: PendingWrite = { delivered: new Set(), hasFailed: false }
    this.#writes ??= new Set()
    this.#writes.add(write)
    return write
  }

  /** The feed has passed the write, or nothing was written. */
  end(write: PendingWrite): void {
    this.#writes?.delete(write)
    if (this.#writes?.size === 0) this.#writes = undefined
  }

  /** The socket received a change by another client. */
  recordDelivery(model: string, id: RecordId): void {
    if (this.#writes) for (const { delivered } of this.#writes) delivered.add(recordKey(model, id))
  }

  /** Whether the socket's own change of a record must be delivered to it. */
  mustEcho(model: string, id: RecordId): boolean {
    for (const { delivered, hasFailed } of this.#writes ?? []) {
      if (hasFailed || delivered.has(recordKey(model, id))) return true
    }
    return false
  }
}

export const recordKey = (model: string, id: RecordId): string => `${model}/${id}`
