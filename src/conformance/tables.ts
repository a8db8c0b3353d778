import assert from 'node:assert/strict'
import {
  allAttributes,
  type Criteria,
  findByPrimaryKey,
  orderByPrimaryKey,
  primaryKeyEquals,
} from '../criteria/criteria.ts'
import { parseSort } from '../criteria/parse-sort.ts'
import { parseWhere } from '../criteria/parse-where.ts'
import type { Assignment } from '../model/assignment.ts'
import type { Model, Models } from '../model/model.ts'
import { createUuids } from '../model/uuid-v7.ts'
import { validate } from '../model/validate.ts'
import type { Change, Position } from '../protocol/change.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { ChangeLog } from '../storage/change-log.ts'
import type { Reads, Records, Writes } from '../storage/store.ts'
import { assertDefined } from '../support/assert.ts'
import { systemClock } from '../support/clock.ts'
import { defaultLimits } from '../support/limits.ts'

const context = { clock: systemClock, uuid: createUuids(systemClock), limits: defaultLimits }

/** Lets a suite refer to models, conditions and values by name. */
export class Tables {
  readonly #models: Models

  constructor(models: Models) {
    this.#models = models
  }

  model(name: string): Model {
    return assertDefined(this.#models.get(name), `no model ${name}`)
  }

  /** The junction of a many-to-many association. */
  junction(name: string, association: string): Model {
    const found = this.model(name).associations.get(association)
    assert.ok(found?.kind === 'manyToMany', `${name}.${association} has no junction`)
    return found.junction
  }

  criteria(name: string, given: Partial<Criteria> = {}): Criteria {
    const model = this.model(name)
    return {
      where: this.where(name, {}),
      sort: orderByPrimaryKey(model),
      limit: 1000,
      skip: 0,
      select: allAttributes(model),
      ...given,
    }
  }

  where(name: string, where: Json): Criteria['where'] {
    return parseWhere(where, this.model(name), defaultLimits)
  }

  sort(name: string, sort: Json): Criteria['sort'] {
    return parseSort(sort, this.model(name), defaultLimits)
  }

  /** The assignments of a new record: the given values and the generated ones. */
  values(name: string, given: JsonObject): Promise<readonly Assignment[]> {
    return Promise.resolve(validate(this.model(name), given, 'create', context))
  }

  /** Assignments of exactly these values. */
  assignments(name: string, given: JsonObject): readonly Assignment[] {
    return Object.entries(given).map(([key, value]) => ({
      attribute: assertDefined(this.model(name).attributes.get(key), key),
      value,
    }))
  }

  /** Inserts a record and returns it. */
  async insert(writes: Writes, name: string, given: JsonObject): Promise<JsonObject> {
    const [record] = (await writes.insert(this.model(name), await this.values(name, given))).decode()
    return assertDefined(record, 'an insert answers the record')
  }

  async update(writes: Writes, name: string, id: Json, given: JsonObject): Promise<readonly JsonObject[]> {
    return (
      await writes.update(this.model(name), primaryKeyEquals(this.model(name), id), this.assignments(name, given))
    ).decode()
  }

  async remove(writes: Writes, name: string, id: Json): Promise<readonly JsonObject[]> {
    return (await writes.delete(this.model(name), primaryKeyEquals(this.model(name), id))).decode()
  }

  async find(reads: Reads, name: string, where: Json = {}): Promise<readonly JsonObject[]> {
    const found: Records = await reads.find(this.model(name), {
      ...this.criteria(name),
      where: this.where(name, where),
    })
    return found.decode()
  }

  async one(reads: Reads, name: string, id: Json, lock = false): Promise<JsonObject | undefined> {
    return (await reads.find(this.model(name), { ...findByPrimaryKey(this.model(name), id), lock })).decode()[0]
  }
}

/** All changes after a position, read in batches. */
export async function changesAfter(log: ChangeLog, after: Position, limit = 100): Promise<readonly Change[]> {
  const all: Change[] = []
  for (let position = after; ; ) {
    const batch = await log.read(position, limit)
    assert.ok(batch !== 'reset', 'the log was reset')
    if (batch.changes.length === 0) return all
    all.push(...batch.changes)
    position = batch.position
  }
}
