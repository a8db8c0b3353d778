import { randomUUID } from 'node:crypto'
import { allAttributes, and, type Condition, type Criteria, idIn } from '../../criteria/criteria.ts'
import type { Assignment } from '../../model/assignment.ts'
import type { Association, Attribute, Model, Models } from '../../model/model.ts'
import type { Change, RecordId } from '../../protocol/change.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { assertDefined } from '../../support/assert.ts'
import { andThen, type MaybePromise } from '../../support/maybe-promise.ts'
import { DatabaseError } from '../driver.ts'
import type {
  Grouped,
  Reads,
  Records,
  Snapshot,
  Store,
  Transaction,
  TransactionContext,
  WriteContext,
} from '../store.ts'
import type { StoredAnswer } from '../stored-answers.ts'
import { TimeLimit } from '../time-limit.ts'
import { annotateError, toServiceError } from '../to-service-error.ts'
import { tooManyAffected } from '../too-many-affected.ts'
import { changeOrigin, originText, setOperation } from '../write-origin.ts'
import { MemoryChangeLog } from './change-log.ts'
import { MemoryReads } from './reads.ts'
import { MemoryRecords } from './records.ts'
import { MemoryStoredAnswers } from './stored-answers.ts'
import { MemoryTable } from './table.ts'

/** Plain maps, short enough to verify by reading: the answers of every database are compared with it. */
export class MemoryStore implements Store {
  readonly #tables: ReadonlyMap<Model, MemoryTable>
  readonly changes = new MemoryChangeLog(randomUUID().slice(0, 8), Date.now)
  readonly answers = new MemoryStoredAnswers()
  readonly description = 'memory'
  readonly secret = randomUUID()
  readonly isSecretShared = true
  /** Committed rows, and the rows of the running transaction. */
  readonly #shown = new MemoryReads((model) => this.#table(model).committed)
  readonly #own = new MemoryReads((model) => this.#table(model).rows)
  #last: Promise<unknown> = Promise.resolve()

  readonly #maxAffected: number

  constructor(models: Models, maxAffected = Number.POSITIVE_INFINITY) {
    this.#maxAffected = maxAffected
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

  matching(model: Model, ids: readonly Json[], conditions: readonly Condition[]): readonly ReadonlySet<Json>[] {
    return conditions.map((condition) => {
      const found = this.#shown.matching(model, and(idIn(model, ids), condition))
      return new Set(found.map((row) => row[model.primaryKey.name] as Json))
    })
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

  /** Transactions run one after another; a failed one restores the rows. */
  transaction<T>(
    work: (transaction: Transaction) => MaybePromise<T>,
    { origin, timeoutMs }: TransactionContext = {},
  ): Promise<T> {
    const run = async (): Promise<T> => {
      const entries: Entry[] = []
      const answers: StoredAnswer[] = []
      const start = (assertOpen: () => void) =>
        work({
          ...this.#transaction(entries, originText(origin), assertOpen),
          keepAnswer: (answer) => this.answers.find(answer.id) === undefined && answers.push(answer) > 0,
        })
      for (const table of this.#tables.values()) table.begin()
      try {
        const result = await (timeoutMs === undefined ? start(() => {}) : new TimeLimit(timeoutMs).run(start))
        for (const table of this.#tables.values()) table.commit()
        setOperation(origin, this.changes.append(entries))
        this.answers.add(answers)
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

  snapshot<T>(work: (reads: Reads) => MaybePromise<T>): MaybePromise<Snapshot<T>> {
    const position = this.changes.head()
    return andThen(work(this), (value) => ({ value, position }))
  }

  #transaction(entries: Entry[], origin: string | undefined, assertOpen: () => void): Transaction {
    const guarded = (
      model: Model,
      assignments: readonly Assignment[],
      work: () => readonly JsonObject[],
    ): MaybePromise<Records> => {
      assertOpen()
      try {
        return new MemoryRecords(work(), allAttributes(model))
      } catch (error) {
        return toServiceError(annotateError(error, { model, assignments }), this).then((failure) =>
          Promise.reject(failure),
        )
      }
    }
    /** The changes of records that are counted when they are deleted. */
    let cleared = 0
    const record = (
      table: MemoryTable,
      verb: Change['verb'],
      before: JsonObject | undefined,
      after: JsonObject | undefined,
    ) => {
      const { model } = table
      if (entries.length - cleared >= this.#maxAffected) throw tooManyAffected(model, this.#maxAffected)
      const row = assertDefined(after ?? before, 'a change without a row')
      const key = model.key.map(({ name }) => row[name] as RecordId)
      const id = key.length === 1 ? (key[0] as RecordId) : key
      entries.push({
        model: model.name,
        verb,
        id,
        ...(before && { before: withoutHidden(before, table.model) }),
        ...(after && { after: withoutHidden(after, table.model) }),
        ...changeOrigin(origin),
      })
    }
    const update = (model: Model, where: Condition, assignments: readonly Assignment[]): readonly JsonObject[] => {
      const table = this.#table(model)
      const found = this.#own.matching(model, where)
      if (found.length > 0) this.#refuseDangling(assignments)
      return found.map((before) => {
        const after = table.update(before, assignments)
        record(table, 'updated', before, after)
        return after
      })
    }
    const insert = (model: Model, assignments: readonly Assignment[]): readonly JsonObject[] => {
      this.#refuseDangling(assignments, model)
      const table = this.#table(model)
      const row = table.insert(assignments)
      record(table, 'created', undefined, row)
      return [row]
    }
    return {
      find: (model, criteria) => this.#own.find(model, criteria),
      count: (model, where) => this.#own.count(model, where),
      related: (association, keys, criteria) => this.#own.related(association, keys, criteria),
      insert: (model, assignments) => guarded(model, assignments, () => insert(model, assignments)),
      insertMissing: (model, assignments) =>
        guarded(model, assignments, () => (this.#table(model).holds(assignments) ? [] : insert(model, assignments))),
      update: (model, where, assignments) => guarded(model, assignments, () => update(model, where, assignments)),
      clearBeforeDelete: (model, where, attribute) =>
        guarded(model, [], () => {
          const rows = update(model, where, [{ attribute, value: null }])
          cleared += rows.length
          return rows
        }),
      delete: (model, where) =>
        guarded(model, [], () => {
          const table = this.#table(model)
          return this.#own.matching(model, where).map((before) => {
            table.delete(before)
            record(table, 'destroyed', before, undefined)
            return before
          })
        }),
    }
  }

  /** A new record may refer to itself. */
  #refuseDangling(assignments: readonly Assignment[], inserted?: Model): void {
    const key = assignments.find(({ attribute }) => attribute === inserted?.primaryKey)
    for (const { attribute, value } of assignments) {
      const { references } = attribute as Attribute
      if (references && references === inserted && value === key?.value) continue
      if (references && value !== null && !this.#table(references).has(references.primaryKey, value)) {
        throw new DatabaseError({ kind: 'foreignKey' }, 'no such target')
      }
    }
  }

  #table(model: Model): MemoryTable {
    return assertDefined(this.#tables.get(model), `no table for ${model.name}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last
  }
}

function withoutHidden(row: JsonObject, model: Model): JsonObject {
  const attributes = allAttributes(model)
  if (attributes.length === model.attributes.size + model.computed.size) return row
  return Object.fromEntries(attributes.map(({ name }) => [name, row[name] ?? null]))
}

type Entry = Parameters<MemoryChangeLog['append']>[0][number]
