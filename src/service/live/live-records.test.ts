import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ServiceError } from '../../protocol/errors.ts'
import type { LooseRecords } from '../in-process/records.ts'
import { type OpenService, openService } from '../open-service.ts'
import type { LooseLiveEvent, LooseLiveEvents } from './live-records.ts'

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
  service = await openService({ models, database: 'memory:', onError: (error) => assert.fail(String(error)) })
  pets = service.records.get('pet') as LooseRecords
  owners = service.records.get('owner') as LooseRecords
})
after(() => service[Symbol.asyncDispose]())

async function take(events: LooseLiveEvents, count: number): Promise<LooseLiveEvent[]> {
  const taken: LooseLiveEvent[] = []
  while (taken.length < count) taken.push((await events.next()).value as LooseLiveEvent)
  return taken
}

test('events from the call on, in whole records, each with its position', async () => {
  const events = pets.live()
  const { id } = await pets.create({ name: 'Rex' })
  await pets.update(id as number, { name: 'Max' })
  await pets.destroy(id as number)
  const [ready, ...delivered] = await take(events, 4)
  assert.equal(ready?.verb, 'ready')
  const rex = { id, name: 'Rex', owner: null }
  const own = { model: 'pet', id }
  assert.deepEqual(
    delivered.map(({ position, ...event }) => event),
    [
      { ...own, verb: 'created', data: rex },
      { ...own, verb: 'updated', data: { id, name: 'Max' }, previous: rex },
      { ...own, verb: 'destroyed', previous: { ...rex, name: 'Max' } },
    ],
  )
  assert.deepEqual(await pastOf(delivered), [['updated', 'destroyed'], ['destroyed'], []])
  await events.return?.()
})

/** The events after resuming from each of these. */
function pastOf(delivered: readonly LooseLiveEvent[]): Promise<string[][]> {
  return Promise.all(
    delivered.map(async ({ position }, index) => {
      const resumed = pets.live({ since: position as string })
      const [ready, ...rest] = await take(resumed, delivered.length - index)
      assert.equal(ready?.verb, 'ready')
      await resumed.return?.()
      return rest.map(({ verb }) => verb)
    }),
  )
}

test('events in the middle of an operation have no position', async () => {
  const ann = await owners.create({ name: 'Ann', pets: [] })
  for (const name of ['Rex', 'Max']) await pets.create({ name, owner: ann.id as number })
  const events = pets.live()
  await owners.destroy(ann.id as number)
  const [, first, second] = await take(events, 3)
  assert.equal(first?.position, undefined)
  assert.equal(second?.position, await service.changes.head())
  await events.return?.()
})

test('one record, by its key in any form', async () => {
  const { id } = await pets.create({ name: 'Rex' })
  const events = pets.live({ id: String(id) })
  await pets.create({ name: 'Other' })
  await pets.destroy(id as number)
  const received: string[] = []
  for await (const { verb } of events) received.push(verb)
  assert.deepEqual(received, ['ready', 'destroyed'])
})

test('a record that does not exist', async () => {
  await assert.rejects(pets.live({ id: 777_777 }).next(), { code: 'E_NO_SUCH_RECORD' })
})

test('a position that is gone', async () => {
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

  test('when the signal aborts, while a `next` is pending', async () => {
    const controller = new AbortController()
    const events = pets.live({ signal: controller.signal })
    await take(events, 1)
    const waiting = events.next()
    controller.abort()
    assert.deepEqual(await waiting, { done: true, value: undefined })
  })

  test('before it begins, when the signal was aborted', async () => {
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
    test('with the position to continue from', async () => {
      const other = await openService({ models, database: 'memory:' })
      const pets = other.records.get('pet') as LooseRecords
      const received: LooseLiveEvent[] = []
      for await (const event of pets.live()) {
        received.push(event)
        if (event.verb === 'ready') await pets.create({ name: 'Rex' })
        if (event.verb === 'created') void other[Symbol.asyncDispose]()
      }
      const [, created, restart] = received
      assert.deepEqual(restart, { verb: 'restart', position: created?.position })
      assert.equal(received.length, 3)
    })

    for (const database of ['memory:', 'sqlite::memory:']) {
      test(`also for a loop that has not begun, on ${database}`, async () => {
        const other = await openService({ models, database })
        const late = (other.records.get('pet') as LooseRecords).live()
        await other[Symbol.asyncDispose]()
        const received: string[] = []
        for await (const { verb } of late) received.push(verb)
        assert.equal(received.at(-1) ?? 'restart', 'restart') // without a database there is no position
      })
    }
  })
})

test('a slow loop receives every event', async () => {
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

describe('refused', () => {
  for (const [what, options, code] of [
    ['a condition through an association', { where: { owner: { name: 'Ann' } } }, 'E_BAD_CRITERIA'],
    ['an unknown attribute', { where: { colour: 'red' } }, 'E_BAD_CRITERIA'],
    ['a condition and a key', { where: {}, id: 1 }, 'E_BAD_REQUEST'],
    ['an invalid key', { id: 'Rex' }, 'E_BAD_REQUEST'],
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
