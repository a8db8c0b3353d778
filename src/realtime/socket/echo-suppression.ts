import type { RecordId } from '../../protocol/change.ts'

/** A write over a socket, from before it begins until the feed has passed it and the reads are answered. */
export interface PendingWrite {
  /** The records of which changes by others, or answers that may be older than the write, were delivered to the socket meanwhile. */
  readonly delivered: Set<string>
  /** Reads of the socket that began before the answer to the write, and are not answered. */
  readonly reads: Set<object>
  state: 'running' | 'answered' | 'passed'
  /** The socket was answered that it failed, although it may have been committed. */
  hasFailed: boolean
}

/**
 * Suppresses events of a socket's own changes, whose result the socket has in the response; `Mirror` says which verbs are
 * suppressed. Two exceptions, so that the last message of a record matches the stored state: the own change is delivered too if another
 * client's earlier change of the same record may be delivered after the response, or the answer to a read that has not seen it.
 */
export class EchoSuppression {
  /** Undefined while there are none, to save memory: most sockets do not write. */
  #writes: Set<PendingWrite> | undefined
  #reads: Set<object> | undefined

  begin(): PendingWrite {
    const write: PendingWrite = {
      delivered: new Set(),
      reads: new Set(this.#reads),
      state: 'running',
      hasFailed: false,
    }
    this.#writes ??= new Set()
    this.#writes.add(write)
    return write
  }

  /** Reads that begin from now on have seen the write. */
  answer(write: PendingWrite): void {
    write.state = 'answered'
  }

  /** The feed has passed the write. */
  pass(write: PendingWrite): void {
    write.state = 'passed'
    if (write.reads.size === 0) this.end(write)
  }

  /** Also where nothing was written. */
  end(write: PendingWrite): void {
    this.#writes?.delete(write)
    if (this.#writes?.size === 0) this.#writes = undefined
  }

  beginRead(read: object): void {
    this.#reads ??= new Set()
    this.#reads.add(read)
    for (const write of this.#writes ?? []) if (write.state === 'running') write.reads.add(read)
  }

  /** The read is answered with these models and records, or has failed. What it has missed until now was delivered before. */
  endRead(read: object, keys: Iterable<string>): void {
    this.#reads?.delete(read)
    if (this.#reads?.size === 0) this.#reads = undefined
    for (const write of this.#writes ?? []) {
      if (!write.reads.delete(read)) continue
      if (write.state === 'answered') for (const key of keys) write.delivered.add(key)
      if (write.state === 'passed' && write.reads.size === 0) this.end(write)
    }
  }

  /** The socket received a change by another client. */
  recordDelivery(model: string, id: RecordId): void {
    if (this.#writes) for (const { delivered } of this.#writes) delivered.add(recordKey(model, id))
  }

  /** Whether the socket's own change of a record must be delivered to it. */
  mustEcho(model: string, id: RecordId): boolean {
    for (const { delivered, reads, hasFailed } of this.#writes ?? [])
      if (hasFailed || reads.size > 0 || delivered.has(recordKey(model, id)) || delivered.has(model)) return true
    return false
  }
}

export const recordKey = (model: string, id: RecordId): string => `${model}/${id}`
