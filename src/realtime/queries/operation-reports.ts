import type { Position } from '../../protocol/change.ts'
import { forEachInTurns } from '../../support/event-loop-turn.ts'
import { getOrInsertComputed } from '../../support/get-or-insert-computed.ts'
import type { MaybePromise } from '../../support/maybe-promise.ts'

/** A client that receives which operations of its requester the feed has passed. */
export interface OperationClient {
  /**
   * The key of the requester whose operations are reported to the client. Undefined: operations without a requester are reported.
   */
  readonly requester: string | undefined
  /** The feed has passed operations of the requester, of which these are the names, in turn `turn`, and is now at `position`. */
  onOperations(operations: readonly string[], turn: number, position: Position): void
}

/** The operations of one turn of the feed, for the clients of their requesters. */
export class OperationReports<Client extends OperationClient> {
  readonly #clients = new Map<string | undefined, Set<Client>>()
  /** By requester. */
  readonly #operations = new Map<string | undefined, string[]>()
  readonly #nameOf: (operation: string) => string

  /** `nameOf`: the name of an operation for clients; by default the operation itself. */
  constructor(nameOf: (operation: string) => string = (operation) => operation) {
    this.#nameOf = nameOf
  }

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

  /** Those that were noted since the last call, in several turns of the event loop: without requesters each goes to every client. */
  report(turn: number, position: Position): MaybePromise<void> {
    const operations = [...this.#operations]
    this.#operations.clear()
    const reports = operations.flatMap(([requester, passed]) => {
      const names = passed.map(this.#nameOf)
      return [...(this.#clients.get(requester) ?? [])].map((client) => ({ client, names }))
    })
    return forEachInTurns(reports, ({ client, names }) => client.onOperations(names, turn, position))
  }
}
