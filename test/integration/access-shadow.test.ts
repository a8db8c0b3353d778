import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Access, AccessPolicy } from '../../src/access/policy.ts'
import { ShadowCheck } from '../../src/access/shadow-check.ts'
import { type Condition, matchAll, matchNone } from '../../src/criteria/criteria.ts'
import { parseWhere } from '../../src/criteria/parse-where.ts'
import { createService } from '../../src/index.ts'
import type { RuleOutcome } from '../../src/model/access-rules.ts'
import type { Model } from '../../src/model/model.ts'
import type { Json } from '../../src/protocol/json.ts'
import { definitionsOf } from '../../src/service/config/check-config.ts'
import type { Reads, Store } from '../../src/storage/store.ts'
import { openStore } from '../../src/storage/stores.ts'
import { defaultLimits } from '../../src/support/limits.ts'
import type { Observation } from '../../src/support/observation.ts'
import { databases } from '../support/databases.ts'

/* With access.shadow, rules are evaluated a second time in memory, and differences are reported without values. */

type Rule = (context: { readonly user: { readonly id: number } | null }) => RuleOutcome
const self: Rule = ({ user }) => user !== null && { id: user.id }
const member: Rule = ({ user }) => user !== null && { not: { members: { id: { '!=': user.id } } } }
const lostOrOwn: Rule = ({ user }) => user !== null && { or: [{ lost: true }, { owner: { id: user.id } }] }

const config = {
  auth: { identify: () => ({ id: 1, role: 'user' }) },
  attributes: { createdAt: false, updatedAt: false },
  models: {
    person: {
      access: { read: true },
      attributes: {
        name: { type: 'string' },
        email: { type: 'string', access: { read: self } },
        salary: { type: 'number', access: { read: 'hr' } },
        clubs: { collection: 'club', via: 'members' },
        pets: { collection: 'pet', via: 'owner' },
      },
    },
    club: {
      access: { read: member },
      attributes: { name: { type: 'string' }, members: { collection: 'person', via: 'clubs' } },
    },
    pet: { access: { read: lostOrOwn }, attributes: { lost: { type: 'boolean' }, owner: { model: 'person' } } },
  },
} as const

async function fill(database: string): Promise<void> {
  await using service = await createService({ ...config, database })
  const { person, club, pet } = service.system.records
  await person.create({ id: 1, name: 'Ann', email: 'a@x.org', salary: 1 })
  await person.create({ id: 2, name: 'Bob', email: 'b@x.org', salary: 2 })
  await club.create({ name: 'Cats', members: [1] })
  await club.create({ name: 'Dogs', members: [1, 2] })
  for (const values of [{ owner: 1 }, { owner: 2 }, { owner: 2, lost: true }, {}]) await pet.create(values)
}

/** What a check of one request reports. */
async function checked(store: Store, name: string, where: Json): Promise<readonly Observation[]> {
  const { models } = definitionsOf(config as never)
  const policy = new AccessPolicy(models, {}, defaultLimits)
  const access = policy.for({ kind: 'user', user: { id: 1 } }) as Access
  const view = access.views.of(models.get(name) as Model)
  const found: Observation[] = []
  const check = new ShadowCheck(1, store, (observation) => found.push(observation), assert.ifError)
  check.sample(view, parseWhere(where, view, defaultLimits), access)
  await check[Symbol.asyncDispose]()
  return found
}

/** The same store, whose rules are changed before they become statements: a fault of the service. */
const withFault = (
  store: Store,
  change: (where: Condition, hasRule: boolean) => Condition,
  keepsMasks = true,
): Store => ({
  ...store,
  snapshot: (work) =>
    store.snapshot((reads) => {
      const faulty: Reads = {
        count: (model, where) => reads.count(model, where),
        related: (association, keys, criteria) => reads.related(association, keys, criteria),
        find(model, { masks, ...criteria }) {
          const { where } = criteria
          const hasRule = where.kind === 'and' && where.conditions.length === 2
          return reads.find(model, {
            ...criteria,
            where: change(where, hasRule),
            ...(keepsMasks && masks && { masks }),
          })
        },
      }
      return work(faulty)
    }),
})
const dropRule = (where: Condition, hasRule: boolean): Condition =>
  hasRule && where.kind === 'and' ? (where.conditions[1] ?? matchAll) : where

/** The memory store is the reference itself. */
for (const database of databases.filter(({ name }) => name !== 'memory')) {
  describe(database.name, { skip: database.missing ?? false }, () => {
    test('answers that obey the rules are not reported, and faults are', async () => {
      await using opened = await database.open()
      await fill(opened.url)
      const { models } = definitionsOf(config as never)
      const onError = assert.ifError
      const { store } = await openStore({ url: opened.url, models, migrate: 'safe', limits: defaultLimits, onError })
      await using _store = store
      const requests: readonly (readonly [string, Json])[] = [
        ['person', {}],
        ['person', { id: 2 }],
        ['person', { email: null }],
        ['person', { not: { email: 'b@x.org' } }],
        ['person', { pets: { lost: true } }],
        ['club', {}],
        ['pet', {}],
        ['pet', { lost: true }],
      ]
      for (const [name, where] of requests) assert.deepEqual(await checked(store, name, where), [], `${name} ${where}`)
      const faults: readonly (readonly [string, Store, object])[] = [
        ['pet', withFault(store, dropRule), { difference: 'unreadable' }],
        ['pet', withFault(store, (where, hasRule) => (hasRule ? matchNone : where)), { difference: 'readable' }],
        ['person', withFault(store, (where) => where, false), { difference: 'value', attribute: 'email' }],
      ]
      for (const [name, faulty, difference] of faults)
        assert.deepEqual(await checked(faulty, name, { id: [1, 2] }), [
          { kind: 'accessDifference', model: name, ...difference },
        ])
    })
  })
}

test('access.shadow is the share of answers that are checked', async () => {
  const statements = async (shadow: number): Promise<number> => {
    let count = 0
    const log = () => {}
    const logger = { info: log, warn: log, error: log, debug: () => void count++ }
    const service = await createService({ ...config, database: 'sqlite::memory:', logger, access: { shadow } })
    await service
      .as({ id: 1, role: 'user' })
      .records.pet.find()
      .finally(() => service.close())
    return count
  }
  assert.ok((await statements(1)) > (await statements(0)))
  await assert.rejects(
    createService({ ...config, access: { shadow: 2 } }),
    /access\.shadow must be a number from 0 to 1/,
  )
})

test('access.shadow alone declares no rules', async () => {
  const models = { pet: { attributes: { name: { type: 'string' } } } } as const
  await using service = await createService({ models, database: 'sqlite::memory:', access: { shadow: 1 } })
  assert.throws(() => service.as({ id: 1 }), /this configuration declares none/)
})
