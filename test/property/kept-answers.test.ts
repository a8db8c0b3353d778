import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, mock, test } from 'node:test'
import type { ServiceRequest } from '../../src/protocol/request.ts'
import { AnswerCache } from '../../src/service/dispatch/answer-cache.ts'
import type { OpenService } from '../../src/service/open-service.ts'
import { openService } from '../../src/service/open-service.ts'
import { Random } from '../support/random.ts'
import { newFile } from '../support/sqlite.ts'

/*
 * Lists that are asked for again and again between random writes, by this service, by another one on the same file and by
 * plain SQL: a service that keeps answers says the same as one that keeps nothing, to every requester.
 */

// biome-ignore lint/suspicious/noExplicitAny: no types of records are needed
type Any = any

const timeless = { createdAt: false, updatedAt: false } as const
const models = {
  city: { attributes: { ...timeless, name: { type: 'string' } } },
  owner: {
    attributes: {
      ...timeless,
      name: { type: 'string' },
      city: { model: 'city' },
      pets: { collection: 'pet', via: 'owner' },
      likes: { collection: 'pet', via: 'fans' },
    },
    access: {
      read: ({ user: { city } }: Any) => city === 'all' || { city: { name: city } },
      create: true,
      update: true,
      destroy: true,
    },
  },
  pet: {
    attributes: {
      ...timeless,
      name: { type: 'string' },
      age: { type: 'number', access: { read: ({ user: { age } }: Any) => (age ? { age: { '<': age } } : true) } },
      owner: { model: 'owner' },
      fans: { collection: 'owner', via: 'likes' },
      visits: { collection: 'visit', via: 'pet' },
    },
    access: 'public',
  },
  visit: {
    attributes: {
      ...timeless,
      note: { type: 'string' },
      pet: { model: 'pet' },
      short: { type: 'string', computed: ['note'], get: (visit: Any) => visit.note[0] },
    },
    access: 'public',
  },
} as const

const lists = [
  '/city?limit=5',
  '/owner?limit=9',
  '/pet?limit=9',
  '/pet?populate=false',
  '/pet?populate=false&count=true&limit=2',
  '/pet?populate=owner&sort=name',
  '/pet?populate={"owner":{"populate":{"city":{}}}}',
  '/pet?populate={"fans":{"where":{"city":{"name":"b"}}}}',
  '/pet?populate=false&sort=owner.name',
  '/pet?populate=false&where={"owner":{"city":{"name":"a"}}}',
  '/pet?populate=false&where={"fans":{"name":{"!=":"x"}}}',
  '/pet?populate=false&where={"age":{">":2}}',
  '/owner?where={"pets":{"visits":{"note":"a"}}}&populate=false',
  '/visit?limit=9',
]
/** Users whose rules differ in their structure, or in their values only. */
const users = [{ city: 'all' }, { city: 'a' }, { city: 'b' }, { city: 'all', age: 3 }, { city: 'all', age: 4 }]

const config = (path: string) => ({
  models: models as Any,
  database: `sqlite:${path}`,
  auth: { identify: ({ headers }: Any) => ({ id: 1, ...JSON.parse(headers.user) }) },
})

const requestOf = (list: string, user: object, tag?: string): ServiceRequest => {
  const [path = '', query = ''] = list.split('?')
  const headers = { user: JSON.stringify(user), ...(tag !== undefined && { 'if-none-match': tag }) }
  return { method: 'GET', path, query: query.replaceAll('"', '%22'), headers, site: 'none' }
}

async function told(service: OpenService, request: ServiceRequest) {
  const { status, headers, body } = await service.handle(request)
  const { 'Keelson-Position': _, ...shown } = headers
  return { status, headers: shown, body }
}

/** A random write, as text for a failure. */
async function write(random: Random, services: readonly OpenService[], sql: DatabaseSync): Promise<string> {
  const records = Object.fromEntries(random.pick(services).records) as Any
  const [id, other] = [1 + random.below(6), 1 + random.below(4)]
  const name = random.pick(['a', 'b', 'c'])
  const steps: readonly (readonly [string, () => unknown])[] = [
    ['rename a pet', () => records.pet.update(id, { name, age: id })],
    ['give a pet', () => records.pet.update(id, { owner: other })],
    ['rename an owner', () => records.owner.update(other, { name })],
    ['move an owner', () => records.owner.update(other, { city: 1 + random.below(3) })],
    ['rename a city', () => records.city.update(1 + random.below(3), { name })],
    ['add a fan', () => records.pet.add(id, 'fans', other)],
    ['remove a fan', () => records.pet.remove(id, 'fans', other)],
    ['note a visit', () => records.visit.update(id, { note: name, pet: id })],
    ['create a visit', () => records.visit.create({ note: name, pet: id })],
    ['SQL on pets', () => sql.exec(`update pet set name = '${name}', age = ${other} where id = ${id}`)],
    ['SQL on owners', () => sql.exec(`update owner set city = ${1 + random.below(3)} where id = ${other}`)],
    ['SQL on cities', () => sql.exec(`update city set name = '${name}' where id = ${1 + random.below(3)}`)],
    [
      'SQL on two tables',
      () => sql.exec(`begin; update pet set age = ${id}; update visit set note = '${name}'; commit`),
    ],
    [
      'SQL on many rows',
      () => sql.exec(`begin; ${`update city set name = '${name}' where id = 1;`.repeat(300)} commit`),
    ],
    ['a trimmed log', () => sql.exec(`delete from keelson_log where seq < ${random.below(50)}`)],
    ['nothing', () => {}],
  ]
  const [text, run] = random.pick(steps)
  await run()
  return text
}

async function fill({ records }: OpenService): Promise<void> {
  const { city, owner, pet, visit } = Object.fromEntries(records) as Any
  for (const name of ['a', 'b', 'c']) await city.create({ name })
  for (let index = 0; index < 4; index++) await owner.create({ name: 'abcd'[index], city: 1 + (index % 3) })
  for (let index = 0; index < 6; index++)
    await pet.create({ name: 'abc'[index % 3], age: index, owner: 1 + (index % 4), fans: [1 + (index % 3)] })
  for (let index = 0; index < 6; index++) await visit.create({ note: 'ab'[index % 2], pet: 1 + index })
}

describe('answers that are kept', () => {
  test('are those of a service that keeps nothing, between writes of several programs', async () => {
    const path = newFile()
    await using keeping = await openService(config(path))
    await using fresh = await openService({ ...config(path), cache: false })
    using sql = new DatabaseSync(path)
    await fill(keeping)
    const { mock: asked } = mock.method(AnswerCache.prototype, 'ask')
    const random = new Random(Number(process.env.KEELSON_TEST_SEED ?? 1))
    const tags = new Map<string, string>()
    const done: string[] = []
    for (let round = 0; round < 30; round++) {
      for (let repeated = 0; repeated < 2; repeated++)
        for (const list of lists)
          for (const user of random.chance(0.5) ? users : [random.pick(users)]) {
            const place = JSON.stringify([list, user])
            const request = requestOf(list, user, random.chance(0.3) ? tags.get(place) : undefined)
            const [kept, read] = [await told(keeping, request), await told(fresh, request)]
            assert.deepEqual(kept, read, `${place} after ${done.slice(-3).join(', ')}`)
            tags.set(place, kept.headers.ETag as string)
          }
      done.push(await write(random, [keeping, fresh], sql))
    }
    const again = asked.calls.filter(({ result }) => result?.answer).length
    assert.ok(again > 300, `${again} answers were given again`)
  })

  test('are not given again after any change of another program', async () => {
    /** What it executes, before or while it names the first city. */
    const programs: readonly (readonly [name: string, sql: string])[] = [
      ['of one row', ''],
      ['of another table in the same transaction', "update visit set note = 'y';"],
      ['of many rows', "update pet set name = 'y';".repeat(50)],
      ['that deletes the log', 'delete from keelson_log;'],
      [
        'that deletes the end of the log',
        'delete from keelson_log where seq > (select max(seq) - 2 from keelson_log);',
      ],
      ['that changes the schema', 'create table other (id integer);'],
      ['that no trigger writes to the log', 'drop trigger TRIGGER;'],
      ['again, without a change of the schema', "update visit set note = 'z';"],
    ]
    const path = newFile()
    await using service = await openService(config(path))
    using sql = new DatabaseSync(path)
    await fill(service)
    const firstName = async () => {
      const { body } = await service.handle(requestOf('/city?sort=id', { city: 'all' }))
      return (JSON.parse((body as Any).encoded) as Any[])[0].name
    }
    const updated =
      "select name from sqlite_schema where type = 'trigger' and tbl_name = 'city' and sql like '%after update%'"
    const trigger = sql.prepare(updated).get()?.name as string
    for (const [number, [name, program]] of programs.entries()) {
      const before = await firstName()
      for (let count = 0; count < 4; count++) assert.equal(await firstName(), before)
      const changes = `${program} update city set name = 'city ${number}' where id = 1`
      sql.exec(`begin; ${changes.replace('TRIGGER', `"${trigger}"`)}; commit`)
      assert.equal(await firstName(), `city ${number}`, name)
      sql.exec(`update city set name = 'later ${number}' where id = 1`)
      assert.equal(await firstName(), `later ${number}`, name)
    }
  })

  test('take no more memory than maxKeptBytes', async () => {
    const path = newFile()
    await using service = await openService({ ...config(path), limits: { maxKeptBytes: 20_000 } })
    await fill(service)
    const kept = (cache: AnswerCache) => cache.bytes
    const { mock: asked } = mock.method(AnswerCache.prototype, 'ask')
    for (let limit = 1; limit < 50; limit++)
      for (let count = 0; count < 4; count++) await service.handle(requestOf(`/owner?limit=${limit}`, { city: 'all' }))
    const cache = asked.calls.at(-1)?.this as AnswerCache
    assert.ok(kept(cache) > 0 && kept(cache) <= 20_000, `${kept(cache)} bytes`)
  })
})
