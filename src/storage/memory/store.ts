import { randomUUID } from 'node:crypto'
import { allOf, type Condition, type Criteria } from '../../criteria/criteria.ts'
import type { Assignment } from '../../model/assignment.ts'
import type { Association, Attribute, Model, Models } from '../../model/model.ts'
import type { Change, RecordId } from '../../protocol/change.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { must } from '../../support/assert.ts'
import { chain, type Maybe } from '../../support/maybe.ts'
import { DatabaseError } from '../driver.ts'
import { explain } from '../explain.ts'
import type { Grouped, Reads, Records, Snapshot, Store, Transaction, WriteContext } from '../store.ts'
import { MemoryChangeLog } from './change-log.ts'
import { MemoryReads } from './reads.ts'
import { MemoryRecords } from './records.ts'
import { MemoryTable } from './table.ts'

/** Plain maps: short enough to believe, and what every database's answers are compared with. */
export class MemoryStore implements Store {
  readonly #tables: ReadonlyMap<Model, MemoryTable>
  readonly changes = new MemoryChangeLog(randomUUID().slice(0, 8), Date.now)
  readonly description = 'memory'
  readonly secret = randomUUID()
  /** What others see, and what a transaction sees that is at work. */
  readonly #shown = new MemoryReads((model) => this.#table(model).committed)
  readonly #own = new MemoryReads((model) => this.#table(model).rows)
  #last: Promise<unknown> = Promise.resolve()

  constructor(models: Models) {
    this.#tables = new Map([...models.values()].map((model) => [model, new MemoryTable(model)]))
  }

  find(model: Model, criteria: Criteria): Records {
    return this.#shown.find(model, criteria)
  }

  count(model: Model, where: Condition): number {
    return this.#shown.count(model, where)
  }

  related(association: Association, keys: readonly Json[], criteria: Criteria): Grouped {
    return this.#shown.related(association, keys, criteria)
  }

  insert(model: Model, assignments: readonly Assignment[], context?: WriteContext): Promise<Records> {
    return this.transaction((transaction) => transaction.insert(model, assignments), context)
  }

  update(model: Model, where: Condition, assignments: readonly Assignment[], context?: WriteContext): Promise<Records> {
    return this.transaction((transaction) => transaction.update(model, where, assignments), context)
  }

  delete(model: Model, where: Condition, context?: WriteContext): Promise<Records> {
    return this.transaction((transaction) => transaction.delete(model, where), context)
  }

  /** One operation after another; a failed one puts back what was there. */
  transaction<T>(work: (transaction: Transaction) => Maybe<T>, context?: WriteContext): Promise<T> {
    const run = async (): Promise<T> => {
      const entries: Entry[] = []
      for (const table of this.#tables.values()) table.begin()
      try {
        const result = await work(this.#transaction(entries, context?.origin))
        for (const table of this.#tables.values()) table.commit()
        this.changes.append(entries)
        return result
      } catch (error) {
        for (const table of this.#tables.values()) table.rollback()
        throw error
      }
    }
    const result = this.#last.then(run, run)
    this.#last = result.catch(() => {})
    return result
  }

  snapshot<T>(work: (reads: Reads) => Maybe<T>): Maybe<Snapshot<T>> {
    const position = this.changes.head()
    return chain(work(this), (value) => ({ value, position }))
  }

  #transaction(entries: Entry[], origin: string | undefined): Transaction {
    const guarded = (
      model: Model,
      assignments: readonly Assignment[],
      work: () => readonly JsonObject[],
    ): Maybe<Records> => {
      try {
        return new MemoryRecords(work(), allOf(model))
      } catch (error) {
        return explain(noted(error, model, assignments), this).then((told) => Promise.reject(told))
      }
    }
    const note = (
      table: MemoryTable,
      verb: Change['verb'],
      before: JsonObject | undefined,
      after: JsonObject | undefined,
    ) => {
      const { model } = table
      const row = must(after ?? before, 'a change of no row')
      const key = model.key.map(({ name }) => row[name] as RecordId)
      const id = key.length === 1 ? (key[0] as RecordId) : key
      entries.push({
        model: model.name,
        verb,
        id,
        ...(before && { before }),
        ...(after && { after }),
        ...(origin !== undefined && { origin }),
      })
    }
    const insert = (model: Model, assignments: readonly Assignment[]): readonly JsonObject[] => {
      this.#refuseDangling(assignments)
      const table = this.#table(model)
      const row = table.insert(assignments)
      note(table, 'created', undefined, row)
      return [row]
    }
    return {
      find: (model, criteria) => this.#own.find(model, criteria),
      count: (model, where) => this.#own.count(model, where),
      related: (association, keys, criteria) => this.#own.related(association, keys, criteria),
      insert: (model, assignments) => guarded(model, assignments, () => insert(model, assignments)),
      insertMissing: (model, assignments) =>
        guarded(model, assignments, () => (this.#table(model).holds(assignments) ? [] : insert(model, assignments))),
      update: (model, where, assignments) =>
        guarded(model, assignments, () => {
          this.#refuseDangling(assignments)
          const table = this.#table(model)
          return this.#own.matching(model, where).map((before) => {
            const after = table.update(before, assignments)
            note(table, 'updated', before, after)
            return after
          })
        }),
      delete: (model, where) =>
        guarded(model, [], () => {
          const table = this.#table(model)
          return this.#own.matching(model, where).map((before) => {
            table.delete(before)
            note(table, 'destroyed', before, undefined)
            return before
          })
        }),
    }
  }

  #refuseDangling(assignments: readonly Assignment[]): void {
    for (const { attribute, value } of assignments) {
      const { references } = attribute as Attribute
      if (references && value !== null && !this.#table(references).has(references.primaryKey, value)) {
        throw new DatabaseError({ kind: 'foreignKey' }, 'no such target')
      }
    }
  }

  #table(model: Model): MemoryTable {
    return must(this.#tables.get(model), `no table for ${model.name}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last
  }
}

function noted(error: unknown, model: Model, assignments: readonly Assignment[]): unknown {
  if (error instanceof DatabaseError) error.about ??= { model, assignments }
  return error
}

type Entry = Parameters<MemoryChangeLog['append']>[0][number]
