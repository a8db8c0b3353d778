import { type Access, policyOf } from '../../../src/access/policy.ts'
import { restrictReads } from '../../../src/access/restricted-reads.ts'
import type { Change, Position } from '../../../src/index.ts'
import type { Model, Models } from '../../../src/model/model.ts'
import { CursorSeal } from '../../../src/operation/cursor.ts'
import { list } from '../../../src/operation/list.ts'
import type { OperationServices } from '../../../src/operation/operation.ts'
import type { JsonObject } from '../../../src/protocol/json.ts'
import { anonymous } from '../../../src/protocol/requester.ts'
import { definitionsOf } from '../../../src/service/config/check-config.ts'
import { liveFind } from '../../../src/service/live/live-request.ts'
import { MemoryReads } from '../../../src/storage/memory/reads.ts'
import type { ScopedReads, ScopedStore } from '../../../src/storage/scoped-store.ts'
import { defaultLimits } from '../../../src/support/limits.ts'
import { settings } from '../history/models.ts'
import { auth, ruledModels, type UserName } from '../history/rules.ts'

/** The part of a log that tells which changes a position contains. */
interface PositionOrder {
  includes(position: Position, change: Change): boolean
}

/** What a query finds. */
export interface Answer {
  readonly rows: readonly JsonObject[]
  readonly total: number | undefined
}

/**
 * The result of a query at a position, by the rules of a user: the tables are made from the changes that the position
 * contains, and the query is run in memory, without statements and without anything that is kept.
 */
export class Reference {
  readonly #order: PositionOrder
  readonly #changes: Change[] = []
  readonly #models: Models
  readonly #services: OperationServices
  readonly #policy: NonNullable<ReturnType<typeof policyOf>>
  #last: { readonly position: Position; readonly reads: MemoryReads } | undefined

  constructor(order: PositionOrder) {
    this.#order = order
    const config = { ...settings, auth, models: ruledModels }
    const limits = { ...defaultLimits, ...settings.limits }
    this.#models = definitionsOf(config as never).models
    this.#services = { models: this.#models, limits, cursors: new CursorSeal('x') } as unknown as OperationServices
    this.#policy = policyOf(this.#models, undefined, limits) as NonNullable<ReturnType<typeof policyOf>>
  }

  /** The next changes of the log. */
  add(changes: readonly Change[]): void {
    this.#changes.push(...changes)
    this.#last = undefined
  }

  async answer(query: JsonObject, user: UserName | undefined, position: Position): Promise<Answer> {
    const { model: name, ...options } = query
    const model = this.#models.get(name as string) as Model
    const access = this.#policy.for(user === undefined ? anonymous : { kind: 'user', user: { name: user } }) as Access
    const { view, input } = liveFind(
      options,
      model,
      { requester: anonymous, access, store: {} as ScopedStore },
      this.#services,
    )
    const reads = restrictReads(this.#readsAt(position), access)
    const { records, total } = await list(input, view, reads as ScopedReads, this.#services)
    // As JSON, as clients receive it.
    return { rows: JSON.parse(JSON.stringify(records.decode())) as readonly JsonObject[], total }
  }

  #readsAt(position: Position): MemoryReads {
    if (this.#last?.position === position) return this.#last.reads
    const tables = new Map<string, Map<string, JsonObject>>([...this.#models.keys()].map((name) => [name, new Map()]))
    for (const change of this.#changes) {
      if (!this.#order.includes(position, change)) continue
      const rows = tables.get(change.model) as Map<string, JsonObject>
      if (change.after) rows.set(JSON.stringify(change.id), change.after)
      else rows.delete(JSON.stringify(change.id))
    }
    const reads = new MemoryReads((model) => tables.get(model.name) as Map<string, JsonObject>)
    this.#last = { position, reads }
    return reads
  }
}
