import assert from 'node:assert/strict'
import {
  allAttributes,
  type Condition,
  findByPrimaryKey,
  matchAll,
  orderByPrimaryKey,
  primaryKeyEquals,
} from '../../src/criteria/criteria.ts'
import { parseWhere } from '../../src/criteria/parse-where.ts'
import type { Assignment } from '../../src/model/assignment.ts'
import { defineModels } from '../../src/model/define.ts'
import type { ModelDefinitions } from '../../src/model/definition.ts'
import type { Attribute, Model, Models } from '../../src/model/model.ts'
import type { Change, Position } from '../../src/protocol/change.ts'
import type { Json, JsonObject } from '../../src/protocol/json.ts'
import type { ChangeBatch } from '../../src/storage/change-log.ts'
import type { OpenedStore } from '../../src/storage/opened-store.ts'
import { openPostgres, type PostgresOptions } from '../../src/storage/postgres/open.ts'
import type { Store, Transaction } from '../../src/storage/store.ts'
import { defaultLimits } from '../../src/support/limits.ts'

/** A store over PostgreSQL with short methods for tests. */
export interface TestStore extends AsyncDisposable {
  readonly opened: OpenedStore
  readonly store: Store
  readonly models: Models
  model(name: string): Model
  /** The records that match the condition, by primary key. */
  find(model: string, where?: Json): Promise<readonly JsonObject[]>
  one(model: string, id: Json): Promise<JsonObject | undefined>
  insert(model: string, values: JsonObject, origin?: string): Promise<JsonObject>
  update(model: string, id: Json, values: JsonObject, origin?: string): Promise<readonly JsonObject[]>
  remove(model: string, id: Json, origin?: string): Promise<readonly JsonObject[]>
  transaction<T>(work: (transaction: TestTransaction) => Promise<T>, origin?: string): Promise<T>
  head(): Promise<Position>
  /** All changes after the position, from as many batches as needed. Fails on 'reset'. */
  changesAfter(position: Position, limit?: number): Promise<readonly Change[]>
  read(position: Position, limit?: number): Promise<ChangeBatch | 'reset'>
}

export interface TestTransaction {
  insert(model: string, values: JsonObject): Promise<JsonObject>
  update(model: string, id: Json, values: JsonObject): Promise<readonly JsonObject[]>
  remove(model: string, id: Json): Promise<readonly JsonObject[]>
  one(model: string, id: Json): Promise<JsonObject | undefined>
}

/** Models have no timestamps here, so that a record equals the given values. */
export async function openTestStore(
  url: string,
  definitions: ModelDefinitions,
  options: Partial<PostgresOptions> = {},
): Promise<TestStore> {
  const models = defineModels(definitions, { createdAt: false, updatedAt: false })
  const opened = await openPostgres({ url, models, migrate: 'add', limits: defaultLimits, ...options })
  const { store } = opened
  const model = (name: string): Model => {
    const found = models.get(name)
    assert.ok(found, `no model ${name}`)
    return found
  }
  const values = (name: string, given: JsonObject): readonly Assignment[] =>
    Object.entries(given).map(([key, value]) => ({ attribute: model(name).attributes.get(key) as Attribute, value }))
  const byId = (name: string, id: Json): Condition => primaryKeyEquals(model(name), id)
  const inside = (transaction: Transaction): TestTransaction => ({
    insert: async (name, given) =>
      (await transaction.insert(model(name), values(name, given))).decode()[0] as JsonObject,
    update: async (name, id, given) =>
      (await transaction.update(model(name), byId(name, id), values(name, given))).decode(),
    remove: async (name, id) => (await transaction.delete(model(name), byId(name, id))).decode(),
    one: async (name, id) => (await transaction.find(model(name), findByPrimaryKey(model(name), id))).decode()[0],
  })
  const read = async (position: Position, limit = 1000) => store.changes.read(position, limit)
  return {
    opened,
    store,
    models,
    model,
    async find(name, where) {
      const condition = where === undefined ? matchAll : parseWhere(where, model(name), defaultLimits)
      const criteria = {
        where: condition,
        sort: orderByPrimaryKey(model(name)),
        limit: 1000,
        skip: 0,
        select: allAttributes(model(name)),
      }
      return (await store.find(model(name), criteria)).decode()
    },
    one: async (name, id) => (await store.find(model(name), findByPrimaryKey(model(name), id))).decode()[0],
    insert: async (name, given, origin) =>
      (await store.insert(model(name), values(name, given), { origin })).decode()[0] as JsonObject,
    update: async (name, id, given, origin) =>
      (await store.update(model(name), byId(name, id), values(name, given), { origin })).decode(),
    remove: async (name, id, origin) => (await store.delete(model(name), byId(name, id), { origin })).decode(),
    transaction: (work, origin) => store.transaction((transaction) => work(inside(transaction)), { origin }),
    head: async () => store.changes.head(),
    read,
    async changesAfter(position, limit) {
      const changes: Change[] = []
      for (let after = position; ; ) {
        const batch = await read(after, limit)
        assert.ok(batch !== 'reset', 'the log was reset')
        changes.push(...batch.changes)
        if (batch.changes.length === 0) return changes
        after = batch.position
      }
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

/** One line for each change: `pet 1 created`. */
export const summarize = (changes: readonly Change[]): readonly string[] =>
  changes.map(({ model, id, verb }) => `${model} ${JSON.stringify(id)} ${verb}`)
