import { type Condition, type Criteria, matchAll, type Sort } from '../../criteria/criteria.ts'
import { compareSorted, matches, type RelatedLookup, sortValue } from '../../criteria/matches.ts'
import type { Association, Model } from '../../model/model.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import type { Grouped, Reads, Records } from '../store.ts'
import { MemoryRecords } from './records.ts'

/** Reads over maps of rows. */
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
      const group = this.#members(association, key, criteria.junction).filter((row) =>
        matches(criteria.where, row, this.#relatedLookup),
      )
      rows.push(...this.#sorted(group, criteria).slice(criteria.skip, criteria.skip + criteria.limit))
      return rows.length
    })
    return { records: new MemoryRecords(this.#masked(rows, criteria), criteria.select), ends }
  }

  #page(found: readonly JsonObject[], criteria: Criteria): Records {
    const { after, sort, skip, limit, select } = criteria
    const sorted = this.#sorted(found, criteria)
    const by = (row: JsonObject) => this.#sortValues(row, sort)
    const rows =
      after === undefined ? sorted : sorted.filter((row) => compareSorted(by(row), after as readonly Json[], sort) > 0)
    const last = limit > 0 && rows.length > skip + limit ? rows[skip + limit - 1] : undefined
    const page = this.#masked(rows.slice(skip, skip + limit), criteria)
    return new MemoryRecords(page, select, last && by(last))
  }

  #sorted(rows: readonly JsonObject[], { sort }: Criteria): readonly JsonObject[] {
    const sorted = rows.map((row) => ({ row, by: this.#sortValues(row, sort) }))
    return sorted.sort((a, b) => compareSorted(a.by, b.by, sort)).map(({ row }) => row)
  }

  #sortValues(row: JsonObject, sort: readonly Sort[]): readonly Json[] {
    return sort.map((item) => {
      if (item.mask && !matches(item.mask, row, this.#relatedLookup)) return null
      const { through, throughMask } = item
      const target = through && this.#relatedLookup(through, row)[0]
      if (throughMask && target && !matches(throughMask, target, this.#relatedLookup)) return null
      return sortValue(item, row, this.#relatedLookup)
    })
  }

  #masked(rows: readonly JsonObject[], { masks }: Criteria): readonly JsonObject[] {
    if (!masks) return rows
    return rows.map((row) => {
      const hidden = [...masks].filter(([, mask]) => !matches(mask, row, this.#relatedLookup))
      return { ...row, ...Object.fromEntries(hidden.map(([attribute]) => [attribute.name, null])) }
    })
  }

  /** The related records of one key. `rule` is a condition on the rows of a junction. */
  #members(association: Association, key: Json, rule: Condition = matchAll): readonly JsonObject[] {
    const { target } = association
    const rows = [...this.#rows(target).values()]
    switch (association.kind) {
      case 'belongsTo':
        return rows.filter((row) => row[target.primaryKey.name] === key)
      case 'hasMany':
        return rows.filter((row) => row[association.via.name] === key)
      case 'manyToMany': {
        const { junction, near, far } = association
        const pairs = [...this.#rows(junction).values()].filter(
          (pair) => pair[near.name] === key && matches(rule, pair, this.#relatedLookup),
        )
        const members = new Set(pairs.map((pair) => pair[far.name]))
        return rows.filter((row) => members.has(row[target.primaryKey.name]))
      }
    }
  }

  readonly #relatedLookup: RelatedLookup = (association, record) => {
    const key = record[keyName(association)] ?? null
    return key === null ? [] : this.#members(association, key)
  }

  count(model: Model, where: Condition): number {
    return this.matching(model, where).length
  }

  matching(model: Model, where: Condition): JsonObject[] {
    return [...this.#rows(model).values()].filter((row) => matches(where, row, this.#relatedLookup))
  }
}

/** The attribute of a record that holds the key of an association. */
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
