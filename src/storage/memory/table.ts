import { compareValues } from '../../criteria/compare.ts'
import type { Assignment } from '../../model/assignment.ts'
import type { Attribute, Model } from '../../model/model.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { DatabaseError } from '../driver.ts'

/** The rows of one model. A row is never changed in place, so a copy of the map is a snapshot. */
export class MemoryTable {
  readonly model: Model
  rows: Map<string, JsonObject> = new Map()
  /** What others see while a transaction is at work on the rows. */
  committed: ReadonlyMap<string, JsonObject> = this.rows
  counter = 0n

  constructor(model: Model) {
    this.model = model
  }

  insert(assignments: readonly Assignment[]): JsonObject {
    const row: Record<string, Json> = {}
    for (const attribute of this.model.attributes.values()) row[attribute.name] = null
    for (const { attribute, value } of assignments) row[attribute.name] = value
    const { primaryKey } = this.model
    if (primaryKey.autoIncrement && row[primaryKey.name] === null) row[primaryKey.name] = this.#count()
    this.#check(row, undefined)
    this.rows.set(this.keyOf(row), row)
    const given = primaryKey.autoIncrement ? BigInt(row[primaryKey.name] as string | number) : 0n
    if (given > this.counter) this.counter = given
    return row
  }

  update(before: JsonObject, assignments: readonly Assignment[]): JsonObject {
    const row = { ...before, ...Object.fromEntries(assignments.map(({ attribute, value }) => [attribute.name, value])) }
    this.#check(row, before)
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

  /** A row with the key that these values give. */
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
      if (value === null) {
        if (!attribute.nullable) throw new DatabaseError({ kind: 'notNull', column: attribute.column }, 'null')
        continue
      }
      if (!attribute.unique || attribute.isPrimaryKey) continue
      for (const [key, other] of this.rows) {
        if (key !== own && compareValues(other[attribute.name] ?? null, value, attribute) === 0)
          throw fault([attribute])
      }
    }
  }
}
