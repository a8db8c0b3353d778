import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createService } from '../../src/index.ts'
import { ServiceError } from '../../src/protocol/errors.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { type DatabaseKind, databases } from '../support/databases.ts'
import { LiveTestClient } from '../support/live-client.ts'
import { Random } from '../support/random.ts'
import { seed } from '../support/seed.ts'
import { alteredRules, randomPlace, randomQuery } from './access/generate.ts'
import {
  data,
  junction,
  type ModelName,
  modelNames,
  modelsOf,
  openRules,
  type Rules,
  setRules,
  tagged,
} from './access/world.ts'

/*
 * Users whose rules differ in one place have equal live queries. After each write, each of them holds what a find answers it, whichever of
 * them has begun to listen first.
 */

const ruleSets = Number(process.env.KEELSON_TEST_RULES ?? 24)
const writesPerRuleSet = 3
const queriesPerRuleSet = 20
const userIds = [1, 2, 3, 4]

interface Table {
  create(values: object): Promise<unknown>
  update(id: number, values: object): Promise<unknown>
  destroy(id: number): Promise<unknown>
  add(id: number, name: string, child: number): Promise<unknown>
  remove(id: number, name: string, child: number): Promise<unknown>
  find(options: object): Promise<{ readonly data: readonly JsonObject[]; readonly total?: number }>
}
type Tables = Readonly<Record<string, Table>>

const open = (database: string) =>
  createService({
    database,
    attributes: { createdAt: false, updatedAt: false },
    auth: {
      identify: ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) => ({
        id: Number(headers['x-user']),
      }),
    },
    models: { ...modelsOf(true, () => false), fence: { access: 'public', attributes: {} } },
  } as never)

const references: Readonly<Record<string, ModelName>> = {
  boss: 'person',
  owner: 'person',
  person: 'person',
  club: 'club',
}
const writable: Readonly<Record<ModelName, readonly string[]>> = {
  person: ['name', 'age', 'boss'],
  pet: ['name', 'age', 'owner'],
  club: ['name'],
  membership: ['person', 'club', 'age'],
  tag: ['name'],
}

/** Writes something by the system; what the database refuses is left. */
async function write(random: Random, tables: Tables): Promise<string> {
  const table = (name: string) => tables[name] as Table
  const idIn = async (name: string): Promise<number> => {
    const rows = (await table(name).find({ populate: false })).data
    return rows.length === 0 ? 0 : (random.pick(rows).id as number)
  }
  const model = random.pick(modelNames)
  const values: Record<string, unknown> = {}
  for (const name of writable[model]) {
    if (random.chance(0.4)) continue
    const target = references[name]
    const isText = name === 'name'
    values[name] = target
      ? random.pick([null, await idIn(target)])
      : random.pick<unknown>(isText ? ['Ann', 'Rex', 'Chess', 'old', null] : [1, 2, 3, 30, null])
  }
  const id = await idIn(model)
  switch (random.below(8)) {
    case 0:
      await table(model).create(values)
      return `create ${model} ${JSON.stringify(values)}`
    case 1:
      await table(model).destroy(id)
      return `destroy ${model} ${id}`
    case 2:
    case 3: {
      const [pet, tag] = [await idIn('pet'), await idIn('tag')]
      const verb = random.pick(['add', 'remove'] as const)
      await table('pet')[verb](pet, 'tags', tag)
      return `${verb} ${junction} ${pet} ${tag}`
    }
    default:
      await table(model).update(id, { ...values, id })
      return `update ${model} ${id} ${JSON.stringify(values)}`
  }
}

async function compare(kind: Pick<DatabaseKind, 'open'>, random: Random): Promise<number> {
  await using opened = await kind.open()
  await using service = await open(opened.url)
  const { url } = await service.listen(0)
  const system = service.system.records as unknown as Tables
  setRules(openRules)
  for (const model of modelNames) for (const row of data[model]) await (system[model] as Table).create(row)
  for (const [pet, tag] of tagged) await (system.pet as Table).add(pet, 'tags', tag)
  const find = (user: number, { model, ...options }: JsonObject) => {
    const tables = service.as({ id: user } as never).records as unknown as Tables
    return (tables[model as string] as Table).find({ populate: false, ...options })
  }
  /** Queries with a name that the user does not know are refused. */
  const allowed = async (user: number, queries: readonly JsonObject[]): Promise<Record<string, JsonObject>> => {
    const known: Record<string, JsonObject> = {}
    for (const [number, query] of queries.entries()) {
      try {
        await find(user, query)
        known[`q${number}`] = query
      } catch (error) {
        assert.ok(error instanceof ServiceError && error.status < 500, String(error))
      }
    }
    return known
  }
  let compared = 0
  for (let number = 0; number < ruleSets; number++) {
    // Of few rules: with many of them most results are empty.
    const rules = alteredRules(alteredRules(openRules, randomPlace(random), random), randomPlace(random), random)
    const ofUsers = new Map<number, Rules>()
    const place = randomPlace(random)
    for (const id of userIds) ofUsers.set(id, alteredRules(rules, place, random))
    setRules(openRules, ofUsers)
    const queries = Array.from({ length: queriesPerRuleSet }, () => randomQuery(random, place))
    const clients = new Map<number, readonly [LiveTestClient, Record<string, JsonObject>]>()
    for (const user of userIds) {
      const known = await allowed(user, queries)
      clients.set(user, [await LiveTestClient.open(url, known, { 'x-user': `${user}` }), known])
    }
    const check = async (what: string): Promise<void> => {
      for (const [user, [client, known]] of clients) {
        const headers = { 'x-user': `${user}`, 'Content-Type': 'application/json' }
        const { headers: answered } = await fetch(`${url}/fence`, { method: 'POST', body: '{}', headers })
        const token = answered.get('keelson-operation') as string
        await client.until(() => client.operations.has(token) && client.held.size === Object.keys(known).length)
        for (const [name, query] of Object.entries(known)) {
          const { data: rows, total } = await find(user, query)
          const told = `user ${user} ${what}: ${JSON.stringify(query)}\nrules ${JSON.stringify(ofUsers.get(user))}`
          const held = client.held.get(name)
          assert.deepEqual(held?.rows, JSON.parse(JSON.stringify(rows)), told)
          if (query.count) assert.equal(held?.total, total, told)
          compared++
        }
      }
    }
    await check('at first')
    for (let at = 0; at < writesPerRuleSet; at++) {
      const written = await write(random, system).catch((error: unknown) => {
        assert.ok(error instanceof ServiceError && error.status < 500, String(error))
        return 'nothing'
      })
      await check(`after ${written}`)
    }
    for (const [client] of clients.values()) await client.close()
  }
  setRules(openRules)
  return compared
}

for (const kind of databases) {
  test(`live queries of users with similar rules hold what finds answer, on ${kind.name}`, {
    skip: kind.missing ?? false,
  }, async (t) => {
    t.diagnostic(`KEELSON_TEST_SEED=${seed} KEELSON_TEST_RULES=${ruleSets}`)
    const compared = await compare(kind, new Random(seed))
    t.diagnostic(`${compared} results compared`)
    assert.ok(compared > ruleSets * userIds.length * writesPerRuleSet, `only ${compared} results compared`)
  })
}
