import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ServiceError } from '../protocol/errors.ts'
import type { LooseLiveEvent, LooseLiveEvents } from './live-records.ts'
import { type OpenService, openService } from './open-service.ts'
import type { LooseRecords } from './records.ts'

const models = {
  owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: {
    attributes: { createdAt: false, updatedAt: false, name: { type: 'string' }, owner: { model: 'owner' } },
  },
} as const

let service: OpenService
let pets: LooseRecords
let owners: LooseRecords
before(async () => {
  service = await openService({ models, database: 'memory:', report: (error) => assert.fail(String(error)) })
  pets = service.records.get('pet') as LooseRecords
  owners = service.records.get('owner') as LooseRecords
})
after(() => service[Symbol.asyncDispose]())

async function take(events: LooseLiveEvents, count: number): Promise<LooseLiveEvent[]> {
  const taken: LooseLiveEvent[] = []
  while (taken.length < count) taken.push((await events.next()).value as LooseLiveEvent)
  return taken
}

test('from the call on, in whole records, each with the place behind it', async () => {
  const events = pets.live()
  const { id } = await pets.create({ name: 'Rex' })
  await pets.update(id as number, { name: 'Max' })
  await pets.destroy(id as number)
  const [ready, ...told] = await take(events, 4)
  assert.equal(ready?.verb, 'ready')
  const rex = { id, name: 'Rex', owner: null }
  const own = { model: 'pet', id }
  assert.deepEqual(
    told.map(({ position, ...event }) => event),
    [
      { ...own, verb: 'created', data: rex },
      { ...own, verb: 'updated', data: { id, name: 'Max' }, previous: rex },
      { ...own, verb: 'destroyed', previous: { ...rex, name: 'Max' } },
    ],
  )
  assert.deepEqual(await pastOf(told), [['updated', 'destroyed'], ['destroyed'], []])
  await events.return?.()
})

/** What one hears who resumes from each of these. */
function pastOf(told: readonly LooseLiveEvent[]): Promise<string[][]> {
  return Promise.all(
    told.map(async ({ position }, index) => {
      const resumed = pets.live({ since: position as string })
      const [ready, ...rest] = await take(resumed, told.length - index)
      assert.equal(ready?.verb, 'ready')
      await resumed.return?.()
      return rest.map(({ verb }) => verb)
    }),
  )
}

test('in the middle of what happened together there is no place to resume from', async () => {
  const ann = await owners.create({ name: 'Ann', pets: [] })
  for (const name of ['Rex', 'Max']) await pets.create({ name, owner: ann.id as number })
  const events = pets.live()
  await owners.destroy(ann.id as number)
  const [, first, second] = await take(events, 3)
  assert.equal(first?.position, undefined)
  assert.equal(second?.position, await service.changes.head())
  await events.return?.()
})

test('one record, by its key in any form that a key may have', async () => {
  const { id } = await pets.create({ name: 'Rex' })
  const events = pets.live({ id: String(id) })
  await pets.create({ name: 'Other' })
  await pets.destroy(id as number)
  const heard: string[] = []
  for await (const { verb } of events) heard.push(verb)
  assert.deepEqual(heard, ['ready', 'destroyed'])
})

test('a record that is not there', async () => {
  await assert.rejects(pets.live({ id: 777_777 }).next(), { code: 'E_NO_SUCH_RECORD' })
})

test('a place that is gone', async () => {
  const events = pets.live({ since: 'of another history' })
  const [reset] = await take(events, 1)
  assert.deepEqual(reset, { verb: 'reset', position: await service.changes.head() })
  await events.return?.()
})

describe('it ends', () => {
  test('when the loop is left', async () => {
    const events = pets.live()
    for await (const { verb } of events) if (verb === 'ready') break
    assert.deepEqual(await events.next(), { done: true, value: undefined })
  })

  test('when the signal says so, while somebody waits', async () => {
    const controller = new AbortController()
    const events = pets.live({ signal: controller.signal })
    await take(events, 1)
    const waiting = events.next()
    controller.abort()
    assert.deepEqual(await waiting, { done: true, value: undefined })
  })

  test('before it begins, when the signal has said so already', async () => {
    const events = pets.live({ signal: AbortSignal.abort() })
    assert.deepEqual(await events.next(), { done: true, value: undefined })
  })

  test('with the block that declares it', async () => {
    let events: LooseLiveEvents
    {
      await using declared = pets.live()
      events = declared
      await take(events, 1)
    }
    assert.deepEqual(await events.next(), { done: true, value: undefined })
  })

  describe('when the service is closed', () => {
    test('with the place to go on from', async () => {
      const other = await openService({ models, database: 'memory:' })
      const pets = other.records.get('pet') as LooseRecords
      const heard: LooseLiveEvent[] = []
      for await (const event of pets.live()) {
        heard.push(event)
        if (event.verb === 'ready') await pets.create({ name: 'Rex' })
        if (event.verb === 'created') void other[Symbol.asyncDispose]()
      }
      const [, created, restart] = heard
      assert.deepEqual(restart, { verb: 'restart', position: created?.position })
      assert.equal(heard.length, 3)
    })

    for (const database of ['memory:', 'sqlite::memory:']) {
      test(`also for who has not begun yet, on ${database}`, async () => {
        const other = await openService({ models, database })
        const late = (other.records.get('pet') as LooseRecords).live()
        await other[Symbol.asyncDispose]()
        const heard: string[] = []
        for await (const { verb } of late) heard.push(verb)
        assert.equal(heard.at(-1) ?? 'restart', 'restart') // where nothing can be read any more there is no place
      })
    }
  })
})

test('a loop that is slow hears everything all the same', async () => {
  const events = pets.live()
  await take(events, 1)
  const first = events.next()
  for (let count = 0; count < 3_000; count++) await pets.create({ name: `${count}` })
  const names = [(await first).value, ...(await take(events, 2_999))].map((event) =>
    event?.verb === 'created' ? event.data.name : event?.verb,
  )
  assert.deepEqual(
    names,
    Array.from({ length: 3_000 }, (_, count) => `${count}`),
  )
  await events.return?.()
})

describe('what is refused', () => {
  for (const [what, options, code] of [
    ['a condition on others', { where: { owner: { name: 'Ann' } } }, 'E_BAD_CRITERIA'],
    ['a condition that makes no sense', { where: { colour: 'red' } }, 'E_BAD_CRITERIA'],
    ['a condition and a key', { where: {}, id: 1 }, 'E_BAD_REQUEST'],
    ['what is no key', { id: 'Rex' }, 'E_BAD_REQUEST'],
    ['an option that does not exist', { limit: 3 }, 'E_BAD_CRITERIA'],
  ] as const) {
    test(what, () => {
      assert.throws(
        () => pets.live(options as object),
        (error: ServiceError) => error.code === code,
      )
    })
  }
})
