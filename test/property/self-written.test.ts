import assert from 'node:assert/strict'
import { after, describe, mock, test } from 'node:test'
import { system } from '../../src/protocol/requester.ts'
import type { OpenService } from '../../src/service/open-service.ts'
import { missingPostgres, postgresForTests } from '../support/postgres.ts'
import { Random } from '../support/random.ts'
import { seed } from '../support/seed.ts'
import { type Any, questions, requestOf, told, users } from './kept-answers/models.ts'
import { countRepeated } from './kept-answers/repeated.ts'
import { randomWrite, serviceProgram } from './kept-answers/writes.ts'
import { plant } from './self-written/faults.ts'
import { moreQuestions, openServices, requestTo } from './self-written/services.ts'

const all = { city: 'all' } as const
const everyQuestion = [...questions, ...moreQuestions]

/** The ways by which a service writes. Some are refused; all of them leave the database as they say. */
const ways: readonly ((service: OpenService, random: Random) => unknown)[] = [
  (service, random) => serviceProgram(service)(randomWrite(random, 'service')),
  ({ handle }, random) =>
    handle(requestTo('PATCH', `/pet/${1 + random.below(6)}`, { name: random.pick(['a', 'b', 'c']) })),
  ({ handle }, random) =>
    handle(requestTo('POST', '/toy', { name: 'new', pet: 1 + random.below(6), parts: [{ name: 'x' }] })),
  // What refers to the record goes with it.
  async ({ handle }, random) => {
    const id = 7 + random.below(8)
    await handle(requestTo('POST', '/pet', { id, name: 'short' }))
    await handle(requestTo('POST', '/toy', { name: 'of it', pet: id, parts: [{ name: 'y' }] }))
    return handle(requestTo('DELETE', `/pet/${id}`))
  },
  ({ handle }, random) =>
    handle(
      requestTo('POST', '/batch', [
        { method: 'PATCH', url: '/owner/1', body: { name: random.pick(['a', 'b', 'c']) } },
        { method: 'POST', url: '/visit', body: { note: random.pick(['a', 'b']), pet: 1 } },
      ] as never),
    ),
  ({ handle }, random) => {
    const request = requestTo('POST', '/visit', { note: random.pick(['a', 'b']), pet: 2 })
    return handle({ ...request, headers: { ...request.headers, 'idempotency-key': `"${random.below(5)}"` } })
  },
  async (service, random) => {
    const requester = { kind: 'user', user: { id: 1, city: 'all' } } as never
    const peer = { id: 'socket', requester, mirror: 'interface', send: () => true, reset() {} } as const
    using _ = service.connect(peer)
    return await service.handle({
      ...requestTo('PATCH', `/toy/${1 + random.below(4)}`, { name: random.pick(['a', 'b']) }),
      peer,
    })
  },
  // Its trigger changes another table.
  ({ handle }, random) =>
    handle(requestTo('PATCH', `/city/${1 + random.below(3)}`, { name: random.pick(['a', 'b', 'c']) })),
  (service, random) =>
    service.transaction(system, async (records) => {
      const { pet, owner } = Object.fromEntries(records) as Any
      await pet.update(1 + random.below(6), { name: random.pick(['a', 'b', 'c']) })
      await owner.update(1, { name: random.pick(['a', 'b', 'c']) })
      if (random.chance(0.2)) throw new Error('rolled back')
    }),
]

describe('answers of a service that is the only writer', { skip: missingPostgres ?? false }, async () => {
  const server = missingPostgres ? undefined : await postgresForTests()
  after(() => server?.stop())

  /** Questions between random writes of the service: it says the same as one that keeps nothing. */
  async function compare(rounds: number): Promise<readonly Error[]> {
    await using services = await openServices(server?.url as string)
    const { keeping, fresh, errors } = services
    const random = new Random(seed)
    const tags = new Map<string, string>()
    for (let round = 0; round < rounds; round++) {
      for (let repeat = 0; repeat < 3; repeat++)
        for (const question of everyQuestion) {
          const user = random.pick(users)
          const place = JSON.stringify([question, user])
          const request = requestOf(question, user, random.chance(0.3) ? tags.get(place) : undefined)
          const kept = await told(keeping, request)
          assert.deepEqual(kept, await told(fresh, request), place)
          if (kept.headers.ETag !== undefined) tags.set(place, kept.headers.ETag)
        }
      // Several of them at once: an answer may be read before a write and kept after it.
      const writes = [random.pick(ways), random.pick(ways)]
      const asked = everyQuestion.map((question) => told(keeping, requestOf(question, all)))
      await Promise.all([
        ...writes.map(async (write) => write(keeping, random)).map((done) => done.catch(() => {})),
        ...asked,
      ])
    }
    return errors
  }

  test('are those of one that keeps nothing, and no write of its own is taken for that of another program', async () => {
    using repeated = countRepeated()
    assert.deepEqual(await compare(16), [])
    assert.ok(repeated.count > 100, `${repeated.count} answers were given again`)
  })

  for (const fault of ['statements', 'transactions', 'cascades and triggers'] as const)
    test(`differ where ${fault} are not counted`, async (t) => {
      t.after(() => mock.restoreAll())
      plant(fault)
      await assert.rejects(compare(24), { name: 'AssertionError' })
    })
})
