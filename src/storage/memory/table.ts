import { compareValues } from '../../criteria/compare.ts'
import type { Assignment } from '../../model/assignment.ts'
import { computedValue } from '../../model/computed.ts'
import type { Attribute, Index, IndexComparison, Model } from '../../model/model.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { DatabaseError } from '../driver.ts'
import { indexesOf } from '../indexes.ts'

/** The rows of one model. Rows are immutable, so a copy of the map is a snapshot. */
export class MemoryTable {
  readonly model: Model
  rows: Map<string, JsonObject> = new Map()
  /** The rows that other readers see while a transaction changes `rows`. */
  committed: ReadonlyMap<string, JsonObject> = this.rows
  counter = 0n
  readonly #uniqueIndexes: readonly Index[]

  constructor(model: Model) {
    this.model = model
    this.#uniqueIndexes = indexesOf(model).filter(({ unique }) => unique)
  }

  insert(assignments: readonly Assignment[]): JsonObject {
    const row: Record<string, Json> = {}
    for (const attribute of this.model.attributes.values()) row[attribute.name] = null
    for (const { attribute, value } of assignments) row[attribute.name] = value
    const { primaryKey } = this.model
    if (primaryKey.autoIncrement && row[primaryKey.name] === null) row[primaryKey.name] = this.#count()
    this.#check(row, undefined)
    this.#compute(row)
    this.rows.set(this.keyOf(row), row)
    const given = primaryKey.autoIncrement ? BigInt(row[primaryKey.name] as string | number) : 0n
    if (given > this.counter) this.counter = given
    return row
  }

  update(before: JsonObject, assignments: readonly Assignment[]): JsonObject {
    const row: Record<string, Json> = {
      ...before,
      ...Object.fromEntries(assignments.map(({ attribute, value }) => [attribute.name, value])),
    }
    this.#check(row, before)
    this.#compute(row)
    this.rows.delete(this.keyOf(before))
    this.rows.set(this.keyOf(row), row)
    return row
  }

  delete(row: JsonObject): void {
    this.rows.delete(this.keyOf(row))
  }

  keyOf(row: JsonObject): string {
    return JSON.stringify(this.model.key.map((attribute) => row[attribute.name]))
  }

  has(attribute: Attribute, value: Json): boolean {
    for (const row of this.rows.values()) if (row[attribute.name] === value) return true
    return false
  }

  /** Whether a row with the key of these values exists. */
  holds(assignments: readonly Assignment[]): boolean {
    return this.rows.has(
      this.keyOf(Object.fromEntries(assignments.map(({ attribute, value }) => [attribute.name, value]))),
    )
  }

  begin(): void {
    this.committed = new Map(this.rows)
  }

  commit(): void {
    this.committed = this.rows
  }

  rollback(): void {
    this.rows = new Map(this.committed)
    this.committed = this.rows
  }

  /** Rows contain the computed values, so that conditions and orders are those of any attribute. */
  #compute(row: Record<string, Json>): void {
    for (const attribute of this.model.computed.values()) row[attribute.name] = computedValue(attribute, row)
  }

  #count(): Json {
    this.counter++
    return this.model.primaryKey.type.storedAs === 'bigint' ? String(this.counter) : Number(this.counter)
  }

  #check(row: JsonObject, before: JsonObject | undefined): void {
    const fault = (attributes: readonly Attribute[]) =>
      new DatabaseError(
        { kind: 'unique', table: this.model.table, columns: attributes.map(({ column }) => column) },
        'taken',
      )
    const own = before && this.keyOf(before)
    if (this.keyOf(row) !== own && this.rows.has(this.keyOf(row))) throw fault(this.model.key)
    for (const attribute of this.model.attributes.values()) {
      const value = row[attribute.name] ?? null
      if (value === null && !attribute.nullable)
        throw new DatabaseError({ kind: 'notNull', table: this.model.table, column: attribute.column }, 'null')
    }
    for (const index of this.#uniqueIndexes) {
      if (!contains(index, row)) continue
      for (const [key, other] of this.rows) {
        if (key !== own && contains(index, other) && isDuplicate(index, row, other)) {
          throw fault(index.columns.map(({ attribute }) => attribute))
        }
      }
    }
  }
}

const contains = ({ where }: Index, row: JsonObject): boolean => where.every((comparison) => holds(comparison, row))

function holds({ attribute, operator, value }: IndexComparison, row: JsonObject): boolean {
  const stored = row[attribute.name] ?? null
  if (operator === '=') return stored === value
  return stored !== null && stored !== value
}

/** Null is equal to nothing. */
const isDuplicate = ({ columns }: Index, row: JsonObject, other: JsonObject): boolean =>
  columns.every(({ attribute }) => {
    const value = row[attribute.name] ?? null
    return value !== null && compareValues(value, other[attribute.name] ?? null, attribute) === 0
  })
