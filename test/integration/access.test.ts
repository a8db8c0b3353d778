import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { isEncoded, type Json } from '../../src/protocol/json.ts'
import type { ServiceRequest, ServiceResponse } from '../../src/protocol/request.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* What three requesters may do, over every database: one case a row. */

const users: Readonly<Record<string, { readonly id: number; readonly role: string }>> = {
  ann: { id: 1, role: 'owner' },
  bob: { id: 2, role: 'owner' },
  root: { id: 9, role: 'admin' },
}
type UserName = 'ann' | 'bob' | 'root' | 'anonymous'

const isSelf = ({ user }: { readonly user: { readonly id: number } | null }) => ({ id: user?.id ?? null })
const isOwner = ({ user }: { readonly user: { readonly id: number } | null }) => ({ owner: user?.id ?? null })

const open = (database: string) =>
  createService({
    database,
    auth: { identify: ({ headers }) => users[String(headers['x-user'])] ?? null },
    attributes: { createdAt: false, updatedAt: false },
    models: {
      person: {
        access: { read: true, update: isSelf, create: 'admin', destroy: 'admin' },
        attributes: {
          name: { type: 'string', required: true },
          email: { type: 'string', unique: true, access: { read: isSelf } },
          salary: { type: 'number', access: { read: 'admin', write: 'admin' } },
          rank: { type: 'number', readOnly: true },
          pin: { type: 'string', hidden: true },
          pets: { collection: 'pet', via: 'owner' },
          clubs: { collection: 'club', via: 'members' },
        },
      },
      pet: {
        access: {
          read: ({ user }) => (user?.role === 'admin' ? true : { or: [{ lost: true }, isOwner({ user })] }),
          create: ({ user }) => user !== null && { owner: user.id },
          update: isOwner,
          destroy: isOwner,
        },
        attributes: {
          name: { type: 'string', required: true },
          lost: { type: 'boolean', defaultsTo: false },
          owner: { model: 'person' },
        },
      },
      club: {
        access: {
          read: ({ user }) => ({ members: { id: user?.id ?? null } }),
          update: ({ user }) => ({ members: { id: user?.id ?? null } }),
        },
        attributes: { name: { type: 'string' }, members: { collection: 'person', via: 'clubs' } },
      },
    },
  })
type TestService = Awaited<ReturnType<typeof open>>

async function fill({ system }: TestService): Promise<void> {
  const { person, pet, club } = system.records
  await person.create({ id: 1, name: 'Ann', email: 'ann@x.org', salary: 10, rank: 1, pin: '1' })
  await person.create({ id: 2, name: 'Bob', email: 'bob@x.org', salary: 20, rank: 2, pin: '2' })
  await pet.create({ name: 'Rex', owner: 1 })
  await pet.create({ name: 'Tom', owner: 2, lost: true })
  await pet.create({ name: 'Kit', owner: 2 })
  await club.create({ name: 'Cats', members: [2] })
}

interface Answer {
  readonly status: number
  readonly body: Json
  readonly total: string | undefined
}

async function ask(service: TestService, user: UserName, line: string, body?: Json): Promise<Answer> {
  const [method = '', address = ''] = line.split(' ')
  const [path = '', query = ''] = address.split('?')
  const headers = user === 'anonymous' ? {} : { 'x-user': user }
  const request: ServiceRequest = { method, path, query, headers, body, site: 'none' }
  const response: ServiceResponse = await service.handle(request)
  const { body: found } = response
  const parsed = found === undefined ? null : isEncoded(found) ? (JSON.parse(found.encoded) as Json) : found
  return { status: response.status, body: parsed, total: response.headers['X-Total-Count'] }
}

const names = ({ body }: Answer): readonly Json[] =>
  (body as readonly { readonly name: Json }[]).map(({ name }) => name)

const lists: readonly (readonly [user: UserName, address: string, names: readonly string[]])[] = [
  ['anonymous', '/pet', ['Tom']],
  ['ann', '/pet', ['Rex', 'Tom']],
  ['root', '/pet', ['Rex', 'Tom', 'Kit']],
  ['ann', '/pet?name=Kit', []],
  ['ann', '/pet?where={"or":[{"name":"Kit"},{"name":"Rex"}]}', ['Rex']],
  ['ann', '/pet?where={"not":{"name":"Rex"}}', ['Tom']],
  ['ann', '/person/2/pets', ['Tom']],
  ['ann', '/person?where={"pets":{"name":"Kit"}}', []],
  ['bob', '/person?where={"pets":{"name":"Kit"}}', ['Bob']],
  ['ann', '/person?where={"clubs":{"name":"Cats"}}', []],
  ['bob', '/person?where={"clubs":{"name":"Cats"}}', ['Bob']],
  ['bob', '/club', ['Cats']],
  ['ann', '/club', []],
  ['ann', '/person?email=bob@x.org', []],
  ['bob', '/person?email=bob@x.org', ['Bob']],
  ['ann', '/person?where={"email":null}', ['Bob']],
  ['ann', '/person?where={"email":{"!=":null}}', ['Ann']],
  ['ann', '/person?where={"not":{"email":"bob@x.org"}}', ['Ann', 'Bob']],
  ['ann', '/person?sort=email', ['Bob', 'Ann']],
  ['bob', '/person?sort=email', ['Ann', 'Bob']],
  ['bob', '/person?sort=email DESC', ['Bob', 'Ann']],
  ['ann', '/pet?sort=owner.email', ['Tom', 'Rex']],
  ['root', '/person?salary=20', ['Bob']],
]

/** Names that a requester may never read, in every place that takes a name. */
const references = [
  '/person?salary=20',
  '/person?sort=salary',
  '/person?select=name,salary',
  '/person?omit=salary',
  '/pet?sort=owner.salary',
  '/pet?where={"owner":{"salary":20}}',
  '/person/1/pets?where={"owner":{"salary":1}}',
  '/person?count=true&salary=20',
  '/pet?populate={"owner":{"select":["salary"]}}',
  '/person?pin=1',
]

const writes: readonly (readonly [user: UserName, line: string, body: Json | undefined, status: number])[] = [
  ['ann', 'PATCH /pet/1', { name: 'Max' }, 200],
  ['ann', 'PATCH /pet/2', { name: 'X' }, 403],
  ['ann', 'PATCH /pet/3', { name: 'X' }, 404],
  ['ann', 'PATCH /pet/1', { owner: 2 }, 403],
  ['ann', 'GET /pet/update/3?name=X', undefined, 404],
  ['anonymous', 'PATCH /pet/2', { name: 'X' }, 403],
  ['ann', 'POST /pet', { name: 'New', owner: 1 }, 201],
  ['ann', 'POST /pet', { name: 'New', owner: 2 }, 403],
  ['anonymous', 'POST /pet', { name: 'New' }, 403],
  ['ann', 'DELETE /pet/2', undefined, 403],
  ['ann', 'DELETE /pet/3', undefined, 404],
  ['ann', 'DELETE /person/1', undefined, 403],
  ['ann', 'PATCH /person/1', { salary: 99 }, 400],
  ['ann', 'PATCH /person/1', { rank: 99 }, 403],
  ['ann', 'PATCH /person/1', { pin: '9' }, 400],
  ['ann', 'PATCH /person/1', { email: 'bob@x.org' }, 409],
  ['ann', 'PATCH /person/1', { email: 'ann2@x.org' }, 200],
  ['ann', 'POST /person/1/pets/3', undefined, 404],
  ['ann', 'POST /person/1/pets/2', undefined, 403],
  ['ann', 'POST /person/1/clubs/1', undefined, 404],
  ['bob', 'DELETE /person/2/clubs/1', undefined, 200],
  ['ann', 'PUT /person/1/pets', [], 403],
]

for (const database of databases) {
  describe(database.name, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: TestService
    before(async () => {
      opened = await database.open()
      service = await open(opened.url)
      await fill(service)
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    for (const [user, address, expected] of lists) {
      test(`${user} finds ${expected.join(', ') || 'nothing'}: ${address}`, async () => {
        const counted = `${address}${address.includes('?') ? '&' : '?'}count=true&populate=false`
        const answer = await ask(service, user, `GET ${counted.replaceAll(' ', '%20')}`)
        assert.deepEqual(names(answer), expected, JSON.stringify(answer.body))
        assert.equal(answer.total, String(expected.length))
        const found: Json[] = []
        for (let cursor = ''; ; ) {
          const page = await service.handle({
            method: 'GET',
            path: address.split('?')[0] as string,
            query: `${(address.split('?')[1] ?? '').replaceAll(' ', '%20')}&populate=false&limit=1${cursor}`,
            headers: user === 'anonymous' ? {} : { 'x-user': user },
            site: 'none',
          })
          found.push(
            ...names({ body: JSON.parse((page.body as { encoded: string }).encoded), status: 200, total: undefined }),
          )
          const next = /cursor=([^>]*)/.exec(page.headers.Link ?? '')?.[1]
          if (next === undefined) break
          cursor = `&cursor=${next}`
        }
        assert.deepEqual(found, expected, 'page by page')
      })
    }

    for (const address of references) {
      test(`a name that may not be read is unknown: ${address}`, async () => {
        const refused = await ask(service, 'ann', `GET ${address}`)
        const unknown = await ask(service, 'ann', `GET ${address.replace(/salary|pin/, 'nix')}`)
        assert.equal(refused.status, 400, JSON.stringify(refused.body))
        assert.equal(
          JSON.stringify(refused.body),
          JSON.stringify(unknown.body).replaceAll('nix', /salary|pin/.exec(address)?.[0] as string),
        )
      })
    }

    for (const [user, line, body, status] of writes) {
      test(`${user} is answered ${status}: ${line} ${JSON.stringify(body ?? '')}`, async () => {
        const { person } = service.system.records
        const before = JSON.stringify((await person.find({ populate: ['pets', 'clubs'] })).data)
        const answer = await ask(service, user, line, body)
        assert.equal(answer.status, status, JSON.stringify(answer.body))
        assert.ok(!JSON.stringify(answer.body).includes('salary') || status === 400)
        const after = JSON.stringify((await person.find({ populate: ['pets', 'clubs'] })).data)
        if (status >= 400) assert.equal(after, before, 'a refused write changes nothing')
        else {
          await service.close()
          await opened[Symbol.asyncDispose]()
          opened = await database.open()
          service = await open(opened.url)
          await fill(service)
        }
      })
    }

    test('an answer holds masked values as null and no hidden record', async () => {
      const { body } = await ask(service, 'ann', 'GET /person?populate=pets,clubs')
      assert.deepEqual(body, [
        {
          id: 1,
          name: 'Ann',
          email: 'ann@x.org',
          rank: 1,
          pets: [{ id: 1, name: 'Rex', lost: false, owner: 1 }],
          clubs: [],
        },
        { id: 2, name: 'Bob', email: null, rank: 2, pets: [{ id: 2, name: 'Tom', lost: true, owner: 2 }], clubs: [] },
      ])
    })

    test('events are those of readable records, masked', async () => {
      const ann = service.as(users.ann as (typeof users)[string]).records
      const heard: unknown[] = []
      const listen = (records: { live(): object }) => records.live() as AsyncIterator<unknown> & AsyncDisposable
      await using pets = listen(ann.pet)
      await using persons = listen(ann.person)
      await pets.next()
      await persons.next()
      const { pet, person } = service.system.records
      await pet.update(3, { name: 'Kitty' })
      await pet.update(3, { lost: true })
      await pet.update(3, { lost: false })
      await pet.update(1, { name: 'Rexy' })
      await person.update(2, { email: 'b2@x.org', salary: 30, name: 'Bobby' })
      for (const events of [pets, pets, pets, persons]) {
        const { value } = await events.next()
        const { position: _, ...event } = value as { readonly position?: string }
        heard.push(event)
      }
      assert.deepEqual(heard, [
        { verb: 'created', model: 'pet', id: 3, data: { id: 3, name: 'Kitty', lost: true, owner: 2 } },
        { verb: 'destroyed', model: 'pet', id: 3 },
        {
          verb: 'updated',
          model: 'pet',
          id: 1,
          data: { id: 1, name: 'Rexy' },
          previous: { id: 1, name: 'Rex', lost: false, owner: 1 },
        },
        {
          verb: 'updated',
          model: 'person',
          id: 2,
          data: { id: 2, name: 'Bobby' },
          previous: { id: 2, name: 'Bob', email: null, rank: 2 },
        },
      ])
    })

    test('rights that end through another model end what is shown', async () => {
      const bob = service.as(users.bob as (typeof users)[string]).records
      await using clubs = bob.club.live()
      await clubs.next()
      const { club } = service.system.records
      await club.update(1, { name: 'Cats and dogs' })
      const first = (await clubs.next()).value
      assert.deepEqual({ verb: first?.verb }, { verb: 'updated' })
      await club.remove(1, 'members', 2)
      const second = (await clubs.next()).value
      assert.equal(second?.verb, 'reset')
      assert.deepEqual((await bob.club.find()).data, [])
    })
  })
}

for (const outcome of [{ owner: undefined }, { nix: 1 }, null, [1], 'admin']) {
  test(`a rule that returns ${JSON.stringify(outcome)} fails the request, and its message is not sent`, async () => {
    const errors: unknown[] = []
    await using service = await createService({
      database: 'memory:',
      onError: (error) => errors.push(error),
      models: { pet: { access: { read: () => outcome as never }, attributes: { owner: { type: 'number' } } } },
    })
    const answer = await ask(service as never, 'anonymous', 'GET /pet')
    assert.equal(answer.status, 500)
    assert.ok(!JSON.stringify(answer.body).includes('owner'))
    assert.match(String(errors[0]), /^TypeError: The access rule `read` of pet returned /)
  })
}
