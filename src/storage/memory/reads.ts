import type { Condition, Criteria } from '../../criteria/criteria.ts'
import { compareSorted, matches, type Neighbours, sortValue } from '../../criteria/matches.ts'
import type { Association, Model } from '../../model/model.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import type { Grouped, Reads, Records } from '../store.ts'
import { MemoryRecords } from './records.ts'

/** Reads the rows of maps, whichever these are. */
export class MemoryReads implements Reads {
  readonly #rows: (model: Model) => ReadonlyMap<string, JsonObject>

  constructor(rows: (model: Model) => ReadonlyMap<string, JsonObject>) {
    this.#rows = rows
  }

  find(model: Model, criteria: Criteria): Records {
    return this.#page(this.matching(model, criteria.where), criteria)
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
    const rows = [...this.#rows(target).values()]
    switch (association.kind) {
      case 'belongsTo':
        return rows.filter((row) => row[target.primaryKey.name] === key)
      case 'hasMany':
        return rows.filter((row) => row[association.via.name] === key)
      case 'manyToMany': {
        const { junction, near, far } = association
        const pairs = [...this.#rows(junction).values()].filter((pair) => pair[near.name] === key)
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
    return this.matching(model, where).length
  }

  matching(model: Model, where: Condition): JsonObject[] {
    return [...this.#rows(model).values()].filter((row) => matches(where, row, this.#neighbours))
  }
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
