import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { databaseNamed } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { type HeldQuery, LiveTestClient, type ReceivedFrame } from '../support/live-client.ts'
import { SailsClient } from '../support/sails-client.ts'

/* Resuming after what the requester may read has changed, which the log does not tell. */

type User = { readonly id: number; readonly isAdmin?: boolean; readonly team?: string }
type Rule = { readonly user: User | null }
type Records = Readonly<Record<string, { create(values: object): Promise<unknown> }>>

const models = {
  owner: {
    access: { read: ({ user }: Rule) => user?.team !== 'b' },
    attributes: {
      name: { type: 'string' },
      email: { type: 'string', access: { read: ({ user }: Rule) => user?.isAdmin === true || { id: user?.id ?? 0 } } },
      rating: { type: 'number', access: { read: ({ user }: Rule) => user?.isAdmin === true } },
    },
  },
  pet: { access: { read: true }, attributes: { name: { type: 'string' }, owner: { model: 'owner' } } },
} as const
const queries: Readonly<Record<string, object>> = {
  owners: { model: 'owner' },
  pets: { model: 'pet' },
  petsOfOwners: { model: 'pet', populate: ['owner'] },
}

async function serve() {
  const rights: { user: User } = { user: { id: 1 } }
  const auth = { identify: () => rights.user }
  const service = await createService({ database: 'sqlite::memory:', models, auth } as never)
  const { url } = await service.listen(0)
  const records = service.system.records as never as Records
  for (const name of ['Ann', 'Bob']) await records.owner?.create({ name, email: `${name}@x`, rating: 5 })
  await records.pet?.create({ name: 'Rex', owner: 1 })
  return { rights, records, url, [Symbol.asyncDispose]: () => service.close() }
}

const resumed = (held: ReadonlyMap<string, HeldQuery>): JsonObject =>
  Object.fromEntries(
    [...held].map(([name, { rows, position }]) => [
      name,
      { ...queries[name], after: position, ids: rows.map(({ id }) => id) as number[] },
    ]),
  )

/** The events of each query. */
const eventsIn = (frames: readonly ReceivedFrame[]): Record<string, readonly string[]> =>
  Object.fromEntries(
    Object.keys(queries).map((name) => [
      name,
      frames.filter(({ data }) => data.query === name).map(({ event }) => event),
    ]),
  )

const anew = ['reset', 'rows']
const current = ['current']
const changes: readonly (readonly [
  what: string,
  before: User,
  after: User,
  owners: string[],
  petsOfOwners: string[],
])[] = [
  ['nothing', { id: 1 }, { id: 1 }, current, current],
  ['more attributes are readable', { id: 1 }, { id: 1, isAdmin: true }, anew, anew],
  ['fewer attributes are readable', { id: 1, isAdmin: true }, { id: 1 }, anew, anew],
  ['values of other records are readable', { id: 1 }, { id: 2 }, anew, anew],
  ['other embedded records are readable', { id: 1, team: 'a' }, { id: 1, team: 'b' }, [], anew],
]

async function all(client: LiveTestClient, of: object = queries): Promise<void> {
  const names = Object.keys(of)
  await client.until(() =>
    names.every((name) => ['rows', 'current', 'diff'].includes(eventsIn(client.frames)[name]?.at(-1) ?? '')),
  )
}

describe('what has changed for the requester when a client resumes:', () => {
  for (const [what, before, after, owners, petsOfOwners] of changes)
    test(`${what}`, async () => {
      await using served = await serve()
      const { rights, url } = served
      rights.user = before
      await using client = await LiveTestClient.open(url, queries)
      await all(client)
      rights.user = after
      const asked = resumed(client.held)
      if (owners.length === 0) delete (asked as Record<string, unknown>).owners
      await using again = await LiveTestClient.open(url, asked, {}, client.held)
      await all(again, asked)
      assert.deepEqual(eventsIn(again.frames), { owners, pets: current, petsOfOwners })
      const socket = await SailsClient.connect(url)
      const messages: ReceivedFrame[] = []
      socket.socket.on('live', (argument) => {
        const { event, ...data } = argument as { readonly event: string } & JsonObject
        messages.push({ event, data })
      })
      await socket.ask('post', '/live', { queries: asked })
      const last = (name: string) => eventsIn(messages)[name]?.at(-1) ?? 'reset'
      await eventually(() => Object.keys(asked).every((name) => last(name) !== 'reset'))
      assert.deepEqual(eventsIn(messages), { owners, pets: current, petsOfOwners })
      socket.close()
      await using fresh = await LiveTestClient.open(
        url,
        Object.fromEntries(Object.keys(asked).map((name) => [name, queries[name]])),
      )
      await all(fresh, asked)
      for (const name of Object.keys(asked)) assert.deepEqual(again.rows(name), fresh.rows(name))
    })

  test('the position of `seen` tells it for every query', async () => {
    await using served = await serve()
    const { rights, url } = served
    await using client = await LiveTestClient.open(url, queries, {})
    await all(client)
    const headers = { 'Content-Type': 'application/json' }
    await client.until(() => client.held.size === 3)
    const { stream } = client
    await fetch(`${url}/live`, { method: 'POST', headers, body: JSON.stringify({ stream, operations: ['some'] }) })
    await client.until(() => client.operations.has('some'))
    const { event, data } = client.frames.at(-1) as ReceivedFrame
    assert.equal(event, 'seen')
    const held = new Map([...client.held].map(([name, one]) => [name, { ...one, position: data.position as string }]))
    await using same = await LiveTestClient.open(url, resumed(held), {}, held)
    await all(same)
    assert.deepEqual(eventsIn(same.frames), { owners: current, pets: current, petsOfOwners: current })
    // What one query held is no proof for another one.
    const swapped = { owners: resumed(held).owners, pets: { ...queries.petsOfOwners, after: data.position, ids: [1] } }
    await using other = await LiveTestClient.open(url, swapped, {}, held)
    await all(other, swapped)
    assert.deepEqual(eventsIn(other.frames), { owners: current, pets: anew, petsOfOwners: [] })
    rights.user = { id: 2 }
    await using changed = await LiveTestClient.open(url, resumed(held), {}, held)
    await all(changed)
    assert.deepEqual(eventsIn(changed.frames), { owners: anew, pets: current, petsOfOwners: anew })
    const read = await fetch(`${url}/pet`, { headers: { 'Keelson-After': data.position as string } })
    assert.equal(read.status, 200)
  })

  test('a declared attribute', async () => {
    await using opened = await databaseNamed('sqlite').open()
    const start = async (attributes: object) => {
      const service = await createService({ database: opened.url, models: { pet: { attributes } } } as never)
      const { url } = await service.listen(0)
      return { service, url, [Symbol.asyncDispose]: () => service.close() }
    }
    const name = { type: 'string' }
    const before = await start({ name })
    const records = before.service.system.records as never as Records
    await records.pet?.create({ name: 'Rex' })
    const client = await LiveTestClient.open(before.url, { pets: queries.pets })
    await client.until(() => client.held.size === 1)
    await before[Symbol.asyncDispose]()
    await using after = await start({ name, kind: { type: 'string', defaultsTo: 'dog' } })
    await using again = await LiveTestClient.open(after.url, resumed(client.held), {}, client.held)
    await again.until(() => again.frames.length > 1 && again.frames.at(-1)?.event !== 'reset')
    assert.deepEqual(eventsIn(again.frames).pets, anew)
    assert.ok('kind' in (again.rows('pets')?.[0] ?? {}))
  })
})
