import type { Position } from '../../protocol/change.ts'
import { getOrInsertComputed } from '../../support/get-or-insert-computed.ts'

/** A client that is told which operations of its requester the feed has passed. */
export interface OperationClient {
  /**
   * The key of the requester whose operations are reported to the client. Undefined: operations without a requester are reported.
   */
  readonly requester: string | undefined
  /** The feed has passed these operations of the requester in turn `turn`, and is now at `position`. */
  onOperations(operations: readonly string[], turn: number, position: Position): void
}

/** The operations of one turn of the feed, for the clients of their requesters. */
export class OperationReports<Client extends OperationClient> {
  readonly #clients = new Map<string | undefined, Set<Client>>()
  #operations = new Map<string | undefined, string[]>()

  get hasClients(): boolean {
    return this.#clients.size > 0
  }

  add(client: Client): void {
    getOrInsertComputed(this.#clients, client.requester, () => new Set()).add(client)
  }

  /** False: it was not one of them. */
  remove(client: Client): boolean {
    const clients = this.#clients.get(client.requester)
    if (!clients?.delete(client)) return false
    if (clients.size === 0) this.#clients.delete(client.requester)
    return true
  }

  note(operation: string, requester: string | undefined): void {
    if (this.#clients.has(requester)) getOrInsertComputed(this.#operations, requester, () => []).push(operation)
  }

  /** Those that were noted since the last call. */
  report(turn: number, position: Position): void {
    const operations = this.#operations
    if (operations.size === 0) return
    this.#operations = new Map()
    for (const [requester, passed] of operations)
      for (const client of [...(this.#clients.get(requester) ?? [])]) client.onOperations(passed, turn, position)
  }
}
