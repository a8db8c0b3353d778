import type { RecordId } from '../protocol/change.ts'
import type { Peer } from '../protocol/event.ts'
import { entry } from '../support/entry.ts'

/** A write of a peer, from before it began until its operation has come by in the log. */
export interface OwnWrite {
  readonly peer: Peer
  /** The records of which the peer was told meanwhile. */
  readonly told: Set<string>
  /** The peer was answered that it failed; it may have happened all the same. */
  hasFailed: boolean
}

/**
 * A peer is not told of what it wrote itself: it was answered. But what others did to the same record just before may be
 * told after that answer, and would be the last it hears. Then it is told of its own change as well.
 */
export class OwnWrites {
  readonly #ofPeer = new Map<Peer, Set<OwnWrite>>()
  #ended: OwnWrite[] = []

  begin(peer: Peer): OwnWrite {
    const write: OwnWrite = { peer, told: new Set(), hasFailed: false }
    entry(this.#ofPeer, peer, () => new Set<OwnWrite>()).add(write)
    return write
  }

  /** It was answered; if it was done, its operation is committed. */
  end(write: OwnWrite): void {
    this.#ended.push(write)
  }

  /** The peer is told of what somebody else did to a record. */
  tell(peer: Peer, model: string, id: RecordId): void {
    if (this.#ofPeer.size === 0) return // hardly anybody writes while very many are told
    for (const { told } of this.#ofPeer.get(peer) ?? []) told.add(recordKey(model, id))
  }

  /** Whether the peer must be told of its own change of a record. */
  isOvertaken(peer: Peer, model: string, id: RecordId): boolean {
    for (const { told, hasFailed } of this.#ofPeer.get(peer) ?? []) {
      if (hasFailed || told.has(recordKey(model, id))) return true
    }
    return false
  }

  /** There is nothing to come by. */
  forget(write: OwnWrite): void {
    const writes = this.#ofPeer.get(write.peer)
    writes?.delete(write)
    if (writes?.size === 0) this.#ofPeer.delete(write.peer)
  }

  /** How many have ended and were not settled. */
  get ended(): number {
    return this.#ended.length
  }

  /** What it returns is to be called when all that is committed by now has been told. */
  settling(): (() => void) | undefined {
    if (this.#ended.length === 0) return undefined
    const ended = this.#ended
    this.#ended = []
    return () => {
      for (const write of ended) this.forget(write)
    }
  }

  leave(peer: Peer): void {
    this.#ofPeer.delete(peer)
  }

  clear(): void {
    this.#ofPeer.clear()
    this.#ended = []
  }
}

export const recordKey = (model: string, id: RecordId): string => `${model}/${id}`
