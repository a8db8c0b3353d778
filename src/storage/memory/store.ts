import { randomUUID } from 'node:crypto'
import { allOf, type Condition, type Criteria } from '../../criteria/criteria.ts'
import { compareSorted, matches, type Neighbours, sortValue } from '../../criteria/matches.ts'
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
import { MemoryRecords } from './records.ts'
import { MemoryTable } from './table.ts'

/** Plain maps: short enough to believe, and what every database's answers are compared with. */
export class MemoryStore implements Store {
  readonly #tables: ReadonlyMap<Model, MemoryTable>
  readonly changes = new MemoryChangeLog(randomUUID().slice(0, 8), Date.now)
  readonly description = 'memory'
  readonly secret = randomUUID()
  #last: Promise<unknown> = Promise.resolve()

  constructor(models: Models) {
    this.#tables = new Map([...models.values()].map((model) => [model, new MemoryTable(model)]))
  }

  find(model: Model, criteria: Criteria): Records {
    return this.#page(this.#matching(model, criteria.where), criteria)
  }

  related(association: Association, keys: readonly Json[], criteria: Criteria): Grouped {
    const rows: JsonObject[] = []
    const ends = keys.map((key) => {
      const group = this.#members(association, key).filter((row) => matches(criteria.where, row, this.#neighbours))
      rows.push(...this.#sorted(group, criteria).slice(criteria.skip, criteria.skip + criteria.limit))
      return rows.length
    })
    return { records: new MemoryRecords(rows, criteria.select), ends }
  }

  #page(found: readonly JsonObject[], criteria: Criteria): Records {
    const { after, sort, skip, limit, select } = criteria
    const sorted = this.#sorted(found, criteria)
    const by = (row: JsonObject) => sort.map((item) => sortValue(item, row, this.#neighbours))
    const rows =
      after === undefined ? sorted : sorted.filter((row) => compareSorted(by(row), after as readonly Json[], sort) > 0)
    const last = limit > 0 && rows.length > skip + limit ? rows[skip + limit - 1] : undefined
    return new MemoryRecords(rows.slice(skip, skip + limit), select, last && by(last))
  }

  #sorted(rows: readonly JsonObject[], { sort }: Criteria): readonly JsonObject[] {
    const sorted = rows.map((row) => ({ row, by: sort.map((item) => sortValue(item, row, this.#neighbours)) }))
    return sorted.sort((a, b) => compareSorted(a.by, b.by, sort)).map(({ row }) => row)
  }

  /** The records on the other side, given the key that leads there. */
  #members(association: Association, key: Json): readonly JsonObject[] {
    const { target } = association
    const rows = [...this.#table(target).rows.values()]
    switch (association.kind) {
      case 'belongsTo':
        return rows.filter((row) => row[target.primaryKey.name] === key)
      case 'hasMany':
        return rows.filter((row) => row[association.via.name] === key)
      case 'manyToMany': {
        const { junction, near, far } = association
        const pairs = [...this.#table(junction).rows.values()].filter((pair) => pair[near.name] === key)
        const members = new Set(pairs.map((pair) => pair[far.name]))
        return rows.filter((row) => members.has(row[target.primaryKey.name]))
      }
    }
  }

  readonly #neighbours: Neighbours = (association, record) => {
    const key = record[keyName(association)] ?? null
    return key === null ? [] : this.#members(association, key)
  }

  count(model: Model, where: Condition): number {
    return this.#matching(model, where).length
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
      const before = [...this.#tables.values()].map((table) => ({ table, rows: new Map(table.rows) }))
      const entries: Entry[] = []
      try {
        const result = await work(this.#transaction(entries, context?.origin))
        this.changes.append(entries)
        return result
      } catch (error) {
        for (const { table, rows } of before) table.rows = rows
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
      find: (model, criteria) => this.find(model, criteria),
      count: (model, where) => this.count(model, where),
      related: (association, keys, criteria) => this.related(association, keys, criteria),
      insert: (model, assignments) => guarded(model, assignments, () => insert(model, assignments)),
      insertMissing: (model, assignments) =>
        guarded(model, assignments, () => (this.#table(model).holds(assignments) ? [] : insert(model, assignments))),
      update: (model, where, assignments) =>
        guarded(model, assignments, () => {
          this.#refuseDangling(assignments)
          const table = this.#table(model)
          return this.#matching(model, where).map((before) => {
            const after = table.update(before, assignments)
            note(table, 'updated', before, after)
            return after
          })
        }),
      delete: (model, where) =>
        guarded(model, [], () => {
          const table = this.#table(model)
          return this.#matching(model, where).map((before) => {
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

  #matching(model: Model, where: Condition): JsonObject[] {
    return [...this.#table(model).rows.values()].filter((row) => matches(where, row, this.#neighbours))
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

/** The attribute of a record that leads to the other side. */
function keyName(association: Association): string {
  switch (association.kind) {
    case 'belongsTo':
      return association.foreignKey.name
    case 'hasMany':
      return association.via.references?.primaryKey.name as string
    case 'manyToMany':
      return association.near.references?.primaryKey.name as string
  }
}

type Entry = Parameters<MemoryChangeLog['append']>[0][number]
