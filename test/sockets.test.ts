import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { io } from 'socket.io-client'
import type { Config, HttpServer, Json, ModelDefinitions, Service } from '../src/index.ts'
import { createService } from '../src/index.ts'
import { MemoryStore } from '../src/storage/memory/store.ts'
import { type DatabaseKind, databases, type TestDatabase } from './databases.ts'
import { RawSocket, refusedUpgrade } from './raw-socket.ts'
import { type Payload, SailsClient } from './sails-client.ts'

const models = {
  user: {
    attributes: {
      name: { type: 'string' },
      mentor: { model: 'user' },
      pets: { collection: 'pet', via: 'owner' },
      groups: { collection: 'group', via: 'members' },
      likes: { collection: 'pet' },
    },
  },
  pet: { attributes: { name: { type: 'string', required: true }, owner: { model: 'user' } } },
  group: { attributes: { name: { type: 'string' }, members: { collection: 'user', via: 'groups' } } },
  /** Whoever watches it knows, when one is created, that everything before has been told. */
  mark: { attributes: {} },
} satisfies ModelDefinitions

type Name = 'user' | 'pet' | 'group'

/** A service on a port, and clients of it. */
class House implements AsyncDisposable {
  readonly service: Service
  readonly server: HttpServer
  readonly reported: readonly unknown[]
  readonly #clients: SailsClient[] = []

  private constructor(service: Service, server: HttpServer, reported: readonly unknown[]) {
    this.service = service
    this.server = server
    this.reported = reported
  }

  static async open(config: Partial<Config> = {}): Promise<House> {
    const reported: unknown[] = []
    const report = (error: unknown) => reported.push(error)
    const service = (await createService({ models, database: 'memory:', report, ...config })) as unknown as Service
    return new House(service, await service.listen(0), reported)
  }

  /** A client that watches marks, and nothing else yet. */
  async client(options: object = {}): Promise<SailsClient> {
    const client = await SailsClient.connect(this.server.url, options)
    this.#clients.push(client)
    assert.equal((await client.ask('get', '/mark')).statusCode, 200)
    return client
  }

  async http(method: string, path: string, data?: Json): Promise<{ readonly status: number; readonly body: never }> {
    const response = await fetch(this.server.url + path, {
      method,
      ...(data !== undefined && { body: JSON.stringify(data), headers: { 'Content-Type': 'application/json' } }),
    })
    return { status: response.status, body: (await response.json()) as never }
  }

  /** What a client heard of all that was done until now. */
  async heard(client: SailsClient): Promise<(readonly [string, Payload])[]> {
    const { body } = await this.http('POST', '/mark', {})
    const { id } = body as { id: number }
    const events = await client.until((name, payload) => name === 'mark' && payload.id === id)
    return events.filter(([name]) => name !== 'mark')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.close()
    await this.service.close()
    assert.deepEqual(this.reported, [])
  }
}

/** Records by name: in addresses and bodies a name in angle brackets stands for the key. */
class Seed {
  readonly ids = new Map<string, number>()
  readonly #house: House

  private constructor(house: House) {
    this.#house = house
  }

  /**
   * Ann has Rex and is in the club; Bob, Tom and the guild are alone. All are new each time, and older ones have other
   * names, so that what is found by name is one of these.
   */
  static async plant(house: House): Promise<Seed> {
    const seed = new Seed(house)
    for (const [model, name] of records) {
      await seed.create(model, name, { name: `${name} ${++planted}` })
      seed.names.set(name, `${name} ${planted}`)
    }
    await house.http('PUT', seed.fill('/user/<ann>/pets/<rex>'))
    await house.http('PUT', seed.fill('/user/<ann>/groups/<club>'))
    return seed
  }

  readonly names = new Map<string, string>()

  async create(model: Name, name: string, data: Json): Promise<void> {
    const { body } = await this.#house.http('POST', `/${model}`, data)
    this.ids.set(name, (body as { id: number }).id)
  }

  fill(text: string): string {
    return text
      .replace(/<(\w+)>/g, (_, name) => String(this.ids.get(name)))
      .replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(this.names.get(name) as string))
  }

  fillIn(data: Json | undefined): Json | undefined {
    return data === undefined
      ? undefined
      : JSON.parse(JSON.stringify(data).replace(/"<(\w+)>"/g, (text) => this.fill(text.slice(1, -1))))
  }

  nameOf(id: unknown, model: string): string {
    for (const [name, known] of this.ids) {
      if (known === id && records.some(([of, word]) => of === model && word === name)) return name
    }
    return `new`
  }
}

let planted = 0
const records: readonly (readonly [Name, string])[] = [
  ['user', 'ann'],
  ['user', 'bob'],
  ['pet', 'rex'],
  ['pet', 'tom'],
  ['group', 'club'],
  ['group', 'guild'],
]

const target: Readonly<Record<string, Name>> = { pets: 'pet', likes: 'pet', groups: 'group', members: 'user' }

/** An event in words: `user ann addedTo pets rex`. */
function inWords([model, payload]: readonly [string, Payload], seed: Seed): string {
  const { verb, id, attribute, addedId, removedId } = payload
  const words = [model, seed.nameOf(id, model), verb]
  if (attribute !== undefined) words.push(attribute, seed.nameOf(addedId ?? removedId, target[attribute] as string))
  return words.join(' ')
}

type Request = readonly [method: string, url: string, data?: Json]

/** Section by section what a request over a socket makes it follow, and of which models it hears what is new. */
const following: readonly [name: string, request: Request, followed: string, watched: string][] = [
  ['find', ['get', '/user?id[]=<ann>&id[]=<bob>'], 'ann bob rex club', 'user pet group'],
  ['find, as a shortcut', ['get', '/user/find?id[]=<ann>&id[]=<bob>'], 'ann bob rex club', 'user pet group'],
  [
    'find, with its criteria as data',
    ['get', '/user', { id: ['<ann>', '<bob>'] }],
    'ann bob rex club',
    'user pet group',
  ],
  ['find of some', ['get', '/user?id[]=<ann>&id[]=<bob>&sort=name%20DESC&limit=1'], 'bob', 'user pet group'],
  ['find with a to-one', ['get', '/pet?name={rex}'], 'rex ann', 'pet user'],
  ['find of nothing', ['get', '/user?name=nobody'], '', 'user'],
  ['find without associations', ['get', '/user?name={ann}&populate=false'], 'ann', 'user pet group'],
  ['find with one association', ['get', '/user?name={ann}&populate=groups'], 'ann club', 'user pet group'],
  ['find with a few attributes', ['get', '/user?name={ann}&populate=false&select=name'], 'ann', 'user pet group'],
  ['find asked as HEAD', ['head', '/user?name={bob}'], 'bob', 'user pet group'],
  ['find one', ['get', '/pet/<rex>'], 'rex ann', 'user'],
  ['find one, as a shortcut', ['get', '/pet/find/<rex>'], 'rex ann', 'user'],
  ['find one of a model that leads to itself', ['get', '/user/<ann>'], 'ann rex club', 'user pet group'],
  ['find one without associations', ['get', '/user/<ann>?populate=false'], 'ann', 'user pet group'],
  ['find one of a model that leads elsewhere', ['get', '/group/<guild>'], 'guild', 'user'],
  ['the members of an association', ['get', '/user/<ann>/pets'], 'ann rex', 'user pet group'],
  ['some of them', ['get', '/user/<ann>/pets?name=nobody'], 'ann', 'user pet group'],
  ['one of them', ['get', '/user/<ann>/pets/<rex>'], 'ann rex', 'user pet group'],
  ['the record a to-one leads to', ['get', '/pet/<rex>/owner'], 'rex ann', 'user'],
  ['create', ['post', '/pet', { name: 'New', owner: '<ann>' }], 'new', ''],
  ['create, as a shortcut', ['get', '/pet/create?name=New'], 'new', ''],
  ['create with members', ['post', '/user', { name: 'New', pets: ['<tom>'] }], 'new', ''],
  ['update', ['patch', '/user/<ann>', { name: 'x' }], 'ann', ''],
  ['update, as a shortcut', ['get', '/user/update/<ann>?name=x'], 'ann', ''],
  ['update of members', ['put', '/user/<ann>', { pets: ['<tom>'] }], 'ann', ''],
  ['update of a to-one', ['patch', '/pet/<rex>', { owner: '<bob>' }], 'rex', ''],
  ['destroy', ['delete', '/pet/<rex>'], '', ''],
  ['destroy, as a shortcut', ['get', '/user/destroy/<ann>'], '', ''],
  ['add', ['put', '/user/<ann>/pets/<tom>'], 'ann tom', ''],
  ['add, by the body', ['post', '/user/<ann>/pets', { id: '<tom>' }], 'ann tom', ''],
  ['add, as a shortcut', ['get', '/user/<bob>/pets/add/<rex>'], 'bob rex', ''],
  ['add of one who is a member', ['put', '/user/<ann>/pets/<rex>'], 'ann rex', ''],
  ['add of one who is a member, by the body', ['post', '/user/<ann>/pets', { id: '<rex>' }], 'ann rex', ''],
  ['add of one who is a member, as a shortcut', ['get', '/user/<ann>/pets/add?id=<rex>'], 'ann rex', ''],
  ['add of one of many, by the body', ['post', '/user/<ann>/groups', { id: '<club>' }], 'ann club', ''],
  ['add of a new record', ['post', '/user/<ann>/pets', { name: 'New' }], 'ann new', ''],
  ['add to many from many', ['post', '/user/<bob>/groups', { id: '<club>' }], 'bob club', ''],
  ['add to what has no other side', ['put', '/user/<bob>/likes/<tom>'], 'bob tom', ''],
  ['remove', ['delete', '/user/<ann>/pets/<rex>'], '', ''],
  ['remove, by the body', ['delete', '/user/<ann>/groups', { id: '<club>' }], '', ''],
  ['remove, as a shortcut', ['get', '/user/<ann>/pets/remove/<rex>'], '', ''],
  ['replace', ['put', '/user/<ann>/pets', ['<rex>', '<tom>']], 'ann tom', ''],
  ['replace, as a shortcut', ['get', '/user/<ann>/pets/replace?pets=[<tom>]'], 'ann tom', ''],
  ['replace of many from many', ['put', '/group/<club>/members', ['<ann>', '<bob>']], 'club bob', ''],
  ['find one that is not there', ['get', '/user/999999'], '', ''],
  ['find that is refused', ['get', '/user?nosuch=1'], '', ''],
  ['members of a record that is not there', ['get', '/user/999999/pets'], '', ''],
  ['create that is refused', ['post', '/pet', { name: '' }], '', ''],
  ['update that is refused', ['patch', '/pet/<rex>', { owner: 999_999 }], '', ''],
  ['add that is refused', ['put', '/user/<ann>/pets/999999'], '', ''],
  ['destroy of what is not there', ['delete', '/user/999999'], '', ''],
]

/** What each operation tells somebody who follows every record and watches every model. */
const telling: readonly [name: string, request: Request, events: readonly string[]][] = [
  ['create', ['POST', '/pet', { name: 'New' }], ['pet new created']],
  [
    'create with a parent',
    ['POST', '/pet', { name: 'New', owner: '<ann>' }],
    ['user ann addedTo pets new', 'pet new created'],
  ],
  [
    'create with a member that belongs to another',
    ['POST', '/user', { pets: ['<rex>'] }],
    ['user new created', 'user new addedTo pets rex', 'user ann removedFrom pets rex', 'pet rex updated'],
  ],
  [
    'create with a member of many',
    ['POST', '/user', { groups: ['<club>'] }],
    ['user new created', 'user new addedTo groups club', 'group club addedTo members new'],
  ],
  ['update', ['PATCH', '/pet/<tom>', { name: 'x' }], ['pet tom updated']],
  ['update of nothing', ['PATCH', '/pet/<tom>', {}], ['pet tom updated']],
  [
    'update to another parent',
    ['PATCH', '/pet/<rex>', { owner: '<bob>' }],
    ['user bob addedTo pets rex', 'user ann removedFrom pets rex', 'pet rex updated'],
  ],
  ['update to the same parent', ['PATCH', '/pet/<rex>', { owner: '<ann>' }], ['pet rex updated']],
  [
    'update to no parent',
    ['PATCH', '/pet/<rex>', { owner: null }],
    ['user ann removedFrom pets rex', 'pet rex updated'],
  ],
  [
    'update of members',
    ['PATCH', '/user/<ann>', { pets: ['<tom>'] }],
    [
      'user ann updated',
      'user ann removedFrom pets rex',
      'pet rex updated',
      'user ann addedTo pets tom',
      'pet tom updated',
    ],
  ],
  ['add', ['PUT', '/user/<ann>/pets/<tom>'], ['user ann addedTo pets tom', 'pet tom updated']],
  ['add of a member', ['PUT', '/user/<ann>/pets/<rex>'], []],
  ['add of a member of many', ['PUT', '/user/<ann>/groups/<club>'], []],
  [
    'add of a member of another',
    ['POST', '/user/<bob>/pets', { id: '<rex>' }],
    ['user bob addedTo pets rex', 'user ann removedFrom pets rex', 'pet rex updated'],
  ],
  ['add to what has no other side', ['PUT', '/user/<ann>/likes/<rex>'], ['user ann addedTo likes rex']],
  [
    'add to many',
    ['PUT', '/user/<ann>/groups/<guild>'],
    ['user ann addedTo groups guild', 'group guild addedTo members ann'],
  ],
  ['remove', ['DELETE', '/user/<ann>/pets/<rex>'], ['user ann removedFrom pets rex', 'pet rex updated']],
  ['remove of no member', ['DELETE', '/user/<bob>/pets/<rex>'], []],
  [
    'remove from many',
    ['DELETE', '/user/<ann>/groups', { id: '<club>' }],
    ['user ann removedFrom groups club', 'group club removedFrom members ann'],
  ],
  [
    'replace',
    ['PUT', '/user/<ann>/pets', ['<tom>']],
    ['user ann removedFrom pets rex', 'pet rex updated', 'user ann addedTo pets tom', 'pet tom updated'],
  ],
  [
    'replace by the same and one more',
    ['PUT', '/user/<ann>/groups', ['<club>', '<guild>']],
    ['user ann addedTo groups guild', 'group guild addedTo members ann'],
  ],
  [
    'destroy of a parent',
    ['DELETE', '/user/<ann>'],
    ['pet rex updated', 'group club removedFrom members ann', 'user ann destroyed'],
  ],
  ['destroy of a member', ['DELETE', '/pet/<rex>'], ['user ann removedFrom pets rex', 'pet rex destroyed']],
  ['what is refused', ['PATCH', '/pet/<rex>', { owner: 999_999 }], []],
  ['what is not there', ['DELETE', '/pet/999999'], []],
]

function runOn(database: DatabaseKind): void {
  let opened: TestDatabase
  let house: House
  before(async () => {
    opened = await database.open()
    house = await House.open({ database: opened.url })
  })
  after(async () => {
    await house[Symbol.asyncDispose]()
    await opened[Symbol.asyncDispose]()
  })

  describe('over a socket follows what 7.5 says:', () => {
    for (const [name, [method, url, data], followed, watched] of following) {
      test(name, async () => {
        const seed = await Seed.plant(house)
        const client = await house.client()
        const { body } = await client.ask(method, seed.fill(url), seed.fillIn(data))
        if (name.startsWith('create') && body.id !== undefined) seed.ids.set('new', body.id)
        if (name === 'add of a new record')
          seed.ids.set('new', body.pets.find((pet: { name: string }) => pet.name === 'New').id)
        await house.heard(client)
        const touched = [...records, [url.startsWith('/pet') || url.endsWith('/pets') ? 'pet' : 'user', 'new'] as const]
        for (const [model, name] of touched) {
          if (seed.ids.has(name)) await house.http('PATCH', seed.fill(`/${model}/<${name}>`), { name: 'touched' })
        }
        const updated = (await house.heard(client)).map(([model, { id }]) => seed.nameOf(id, model))
        assert.deepEqual(updated.sort(), followed.split(' ').filter(Boolean).sort())
        for (const model of ['user', 'pet', 'group']) await house.http('POST', `/${model}`, { name: 'New' })
        const created = (await house.heard(client)).map(([model]) => model)
        assert.deepEqual(created.sort(), watched.split(' ').filter(Boolean).sort())
        client.close()
      })
    }

    test('HTTP follows nothing', async () => {
      const seed = await Seed.plant(house)
      const client = await house.client()
      for (const path of ['/user', '/user/<ann>', '/user/<ann>/pets']) await house.http('GET', seed.fill(path))
      await house.http('PATCH', seed.fill('/user/<ann>'), { name: 'x' })
      await house.http('POST', '/user', {})
      assert.deepEqual(await house.heard(client), [])
      client.close()
    })
  })

  describe('is told what 7.7 says of', () => {
    for (const [name, [method, url, data], expected] of telling) {
      test(name, async () => {
        const seed = await Seed.plant(house)
        const client = await house.client()
        for (const [model, name] of records) {
          await client.ask('get', seed.fill(`/${model}?name={${name}}&populate=false`))
        }
        await house.http(method, seed.fill(url), seed.fillIn(data))
        const events = await house.heard(client)
        assert.deepEqual(
          events.map((event) => inWords(event, seed)),
          expected,
        )
        client.close()
      })
    }
  })

  test('payloads are those of 7.6, with flat rows', async () => {
    const seed = await Seed.plant(house)
    const client = await house.client()
    await client.ask('get', '/user?limit=1000&populate=false')
    await client.ask('get', '/pet?limit=1000&populate=false')
    const created = await house.http('POST', '/pet', { name: 'New', owner: seed.ids.get('ann') as number })
    const { owner, ...record } = created.body as { id: number; name: string; createdAt: string; owner: { id: number } }
    const before = { ...record, owner: owner.id }
    const updated = await house.http('PATCH', `/pet/${record.id}`, {
      name: 'Newer',
      owner: seed.ids.get('bob') as number,
    })
    const { updatedAt } = updated.body as { updatedAt: string }
    await house.http('DELETE', `/pet/${record.id}`)
    const [ann, bob] = [seed.ids.get('ann'), seed.ids.get('bob')]
    const { id } = record
    assert.deepEqual(await house.heard(client), [
      ['user', { verb: 'addedTo', attribute: 'pets', id: ann, addedId: id }],
      ['pet', { verb: 'created', id, data: before }],
      ['user', { verb: 'addedTo', attribute: 'pets', id: bob, addedId: id }],
      ['user', { verb: 'removedFrom', attribute: 'pets', id: ann, removedId: id }],
      ['pet', { verb: 'updated', id, data: { id, name: 'Newer', owner: bob, updatedAt }, previous: before }],
      ['user', { verb: 'removedFrom', attribute: 'pets', id: bob, removedId: id }],
      ['pet', { verb: 'destroyed', id, previous: { ...before, name: 'Newer', owner: bob, updatedAt } }],
    ])
    client.close()
  })

  test('the one who asked is left out of all it caused, and nobody else is', async () => {
    const seed = await Seed.plant(house)
    const [a, b] = [await house.client(), await house.client()]
    for (const client of [a, b]) {
      await client.ask('get', '/user?limit=1000&populate=false')
      await client.ask('get', '/pet?limit=1000&populate=false')
    }
    const { body } = await a.ask('post', '/pet', { name: 'New', owner: seed.ids.get('ann') })
    await a.ask('patch', `/pet/${body.id}`, { name: 'Newer' })
    const words = async (client: SailsClient) => (await house.heard(client)).map((event) => inWords(event, seed))
    assert.deepEqual(await words(b), ['user ann addedTo pets new', 'pet new created', 'pet new updated'])
    await b.ask('patch', `/pet/${body.id}`, { name: 'Newest' })
    assert.deepEqual(await words(a), ['pet new updated'])
    await a.ask('delete', seed.fill('/user/<ann>'))
    assert.deepEqual(await words(a), [])
    const heard = await words(b)
    assert.deepEqual(heard.slice(0, 2).sort(), ['pet new updated', 'pet rex updated'].sort())
    assert.deepEqual(heard.slice(2), ['user ann destroyed'])
    for (const client of [a, b]) client.close()
  })

  test('subscribers of a destroyed record hear it once, and of another with its key nothing', async () => {
    const seed = await Seed.plant(house)
    const [looker, watcher] = [await house.client(), await house.client()]
    await looker.ask('get', seed.fill('/pet/<tom>?populate=false'))
    await watcher.ask('get', seed.fill('/pet?id=<tom>&populate=false'))
    await house.http('DELETE', seed.fill('/pet/<tom>'))
    await house.http('POST', '/pet', { id: seed.ids.get('tom') as number, name: 'Tom the second' })
    await house.http('PATCH', seed.fill('/pet/<tom>'), { name: 'again' })
    const verbs = async (client: SailsClient) => (await house.heard(client)).map(([, { verb }]) => verb)
    assert.deepEqual(await verbs(looker), ['destroyed'])
    assert.deepEqual(await verbs(watcher), ['destroyed', 'created', 'updated'])
    for (const client of [looker, watcher]) client.close()
  })

  test('watchers of a model are introduced to what is new in it, even if they made it', async () => {
    const [a, b] = [await house.client(), await house.client()]
    for (const client of [a, b]) await client.ask('get', '/group?limit=0')
    const verbs = async (client: SailsClient) => (await house.heard(client)).map(([, { verb }]) => verb)
    const { body } = await a.ask('post', '/group', {})
    assert.deepEqual(await verbs(b), ['created'])
    await b.ask('patch', `/group/${body.id}`, { name: 'x' })
    assert.deepEqual(await verbs(a), ['updated'])
    await a.ask('patch', `/group/${body.id}`, { name: 'y' })
    assert.deepEqual([await verbs(a), await verbs(b)], [[], ['updated']])
    for (const client of [a, b]) client.close()
  })
}

for (const database of databases) {
  describe(`a socket, on ${database.name},`, { skip: database.missing ?? false }, () => runOn(database))
}

describe('an answer over a socket', () => {
  const paths: readonly Request[] = [
    ['GET', '/user'],
    ['GET', '/user?count=true&limit=1'],
    ['GET', '/user/<ann>'],
    ['GET', '/user/<ann>/pets'],
    ['GET', '/user/999999'],
    ['GET', '/user?nosuch=1'],
    ['GET', '/nosuch'],
    ['GET', '/user/<ann>%2'],
    ['GET', '/'],
    ['PUT', '/user/<ann>/pets', ['<tom>']],
    ['PUT', '/user/<ann>', ['<tom>']],
    ['PATCH', '/pet/<rex>', { owner: 'nobody', name: '' }],
    ['DELETE', '/pet'],
    ['POST', '/user/<ann>/nosuch'],
    ['PUT', '/user/find'],
  ]

  for (const [method, path, data] of paths) {
    test(`has the body of HTTP, and what its headers say: ${method} ${path}`, async () => {
      await using house = await House.open()
      const seed = await Seed.plant(house)
      const client = await house.client()
      const response = await fetch(house.server.url + seed.fill(path), {
        method,
        ...(data !== undefined && {
          body: JSON.stringify(seed.fillIn(data)),
          headers: { 'Content-Type': 'application/json' },
        }),
      })
      const answer = await client.ask(method.toLowerCase(), seed.fill(path), seed.fillIn(data))
      assert.equal(answer.statusCode, response.status)
      assert.deepEqual(answer.body, await response.json())
      for (const name of ['ETag', 'Link', 'X-Total-Count', 'Allow']) {
        assert.equal(answer.headers[name] ?? null, response.headers.get(name), name)
      }
    })
  }

  test('that is a page over HTTP is its text', async () => {
    await using house = await House.open()
    const client = await house.client()
    const { body } = await client.ask('get', '/', undefined, { Accept: 'text/html' })
    assert.match(body, /^<!doctype html>/i)
  })

  test('is never a script', async () => {
    await using house = await House.open()
    const client = await house.client()
    const { body, statusCode } = await client.ask('get', '/user?callback=run', { callback: 'run' })
    assert.deepEqual([statusCode, body], [200, []])
  })

  test('is not sent again to those who know it, and refuses those who know another', async () => {
    await using house = await House.open()
    const seed = await Seed.plant(house)
    const client = await house.client()
    const address = seed.fill('/user/<ann>')
    const { headers } = await client.ask('get', address)
    const again = await client.ask('get', address, undefined, { 'If-None-Match': headers.ETag as string })
    assert.deepEqual([again.statusCode, again.body], [304, undefined])
    const late = await client.ask(
      'patch',
      address,
      { name: 'x' },
      { 'If-Match': '"0000000000000000000000-0000000000000000000000"' },
    )
    assert.equal(late.statusCode, 412)
  })

  test('holds the values of data with their types, and data before the query string', async () => {
    await using house = await House.open()
    await Seed.plant(house)
    const client = await house.client()
    const ask = async (url: string, data: Json) => (await client.ask('get', url, data)).body
    assert.equal((await ask('/user', { limit: 1, populate: false })).length, 1)
    assert.equal((await ask('/user?limit=2', { limit: 1 })).length, 1)
    assert.deepEqual((await ask('/user', { where: { id: { '>': 1 } }, select: ['name'], populate: false })).length, 1)
    assert.equal((await ask('/user', { sort: [{ id: 'DESC' }], limit: 1, populate: false }))[0].id, 2)
  })
})

describe('no gap:', () => {
  /** The store reads, and only then, while the reader does not know it yet, something else happens. */
  async function slowly(house: House, client: SailsClient, url: string, meanwhile: () => Promise<unknown>) {
    const { snapshot } = MemoryStore.prototype
    MemoryStore.prototype.snapshot = async function (this: MemoryStore, work) {
      MemoryStore.prototype.snapshot = snapshot
      const result = await snapshot.call(this, work)
      await meanwhile()
      // All of it has been told to whoever listens by now.
      for (let turns = 0; turns < 10; turns++) await turn()
      return result as never
    }
    const { body } = await client.ask('get', url)
    return { body, events: await house.heard(client) }
  }

  test('what happens between the reading and its answer is told after it', async () => {
    await using house = await House.open()
    const seed = await Seed.plant(house)
    const client = await house.client()
    const { body, events } = await slowly(house, client, seed.fill('/user/<bob>'), async () => {
      assert.deepEqual(client.events, [])
      await house.http('PATCH', seed.fill('/user/<bob>'), { name: 'Robert' })
      await house.http('POST', '/pet', { name: 'New', owner: seed.ids.get('bob') as number })
    })
    assert.match(body.name, /^bob/)
    assert.deepEqual(body.pets, [])
    assert.deepEqual(
      events.map((event) => inWords(event, seed)),
      ['user bob updated', 'user bob addedTo pets new', 'pet new created'],
    )
  })

  test('to one who has followed it before, too', async () => {
    await using house = await House.open()
    const seed = await Seed.plant(house)
    const client = await house.client()
    await client.ask('get', seed.fill('/user/<bob>'))
    let wereToldEarly: unknown
    const { body, events } = await slowly(house, client, seed.fill('/user/<bob>'), async () => {
      await house.http('PATCH', seed.fill('/user/<bob>'), { name: 'Robert' })
      for (let turns = 0; turns < 100; turns++) await turn()
      wereToldEarly = [...client.events]
    })
    assert.deepEqual(wereToldEarly, [], 'it would take the older answer for the newer state')
    assert.match(body.name, /^bob/)
    assert.deepEqual(
      events.map((event) => inWords(event, seed)),
      ['user bob updated'],
    )
  })
})

describe('many at once', () => {
  test('a client that does not read is cut off, and all others hear everything', async () => {
    await using house = await House.open({ limits: { maxQueuedBytes: 200_000 } })
    const seed = await Seed.plant(house)
    const clients = [await house.client(), await house.client()]
    await using slow = await RawSocket.connect(house.server.url)
    for (const client of clients) await client.ask('get', seed.fill('/pet/<rex>'))
    await slow.ask('get', { url: seed.fill('/pet/<rex>') })
    slow.ws.pause()
    const rounds = 100
    for (let round = 0; round < rounds; round++) {
      await house.http('PATCH', seed.fill('/pet/<rex>'), { name: `${round}${'x'.repeat(100_000)}` })
    }
    for (const client of clients) assert.equal((await house.heard(client)).length, rounds)
    slow.ws.resume()
    assert.equal(await slow.closed, 1006)
  })
})

test('whatever a client sends, the others are served', async () => {
  await using house = await House.open()
  const seed = await Seed.plant(house)
  const steady = await house.client()
  const word = fc.constantFrom('get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'nosuch', '__proto__')
  const path = fc
    .constantFrom(
      '/user',
      '/user/<ann>',
      '/user/<ann>/pets',
      '/pet/<rex>',
      '/pet/update/<rex>',
      '/nosuch',
      '/',
      '//',
      '/%',
      '?',
    )
    .map((text) => seed.fill(text))
  const key = fc.constantFrom('name', 'where', 'limit', 'sort', 'populate', 'owner', 'pets', 'id', '__proto__')
  const data = fc.oneof(fc.dictionary(key, fc.jsonValue()), fc.jsonValue())
  const message = fc.record(
    { url: fc.oneof(path, fc.jsonValue()), data, headers: fc.jsonValue() },
    { requiredKeys: [] },
  )
  const ack = fc.oneof(fc.constant(''), fc.nat().map(String))
  const event = fc
    .tuple(ack, word, fc.oneof(message, fc.jsonValue()))
    .map(([ack, word, message]) => `42${ack}${JSON.stringify([word, message])}`)
  const broken = fc.tuple(event, fc.nat(40)).map(([frame, end]) => frame.slice(0, end))
  const odd = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', '2', '3', '5', '6', '40', '40/x,', '41', '43', '451-[]'),
  )
  const sent = fc.oneof(
    { weight: 8, arbitrary: event },
    { weight: 1, arbitrary: broken },
    { weight: 1, arbitrary: odd },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(sent, { maxLength: 30 }), async (frames) => {
      const socket = await RawSocket.connect(house.server.url)
      for (const frame of frames) socket.send(frame)
      // Either it is still served, or it was told to go.
      socket.send('2probe')
      await Promise.race([socket.closed, socket.until((frame) => frame === '3probe').catch(() => {})])
      socket.ws.terminate()
      assert.equal((await steady.ask('get', '/mark')).statusCode, 200)
    }),
    { numRuns: 100 },
  )
})

describe('socket.io-client 4', () => {
  test('is served as well', async () => {
    await using house = await House.open()
    const seed = await Seed.plant(house)
    const socket = io(house.server.url, { transports: ['websocket'], forceNew: true })
    await once(socket as never, 'connect')
    const answer = await socket.emitWithAck('get', { url: seed.fill('/pet/<rex>') })
    assert.equal(answer.statusCode, 200)
    const heard = once(socket as never, 'pet')
    await house.http('PATCH', seed.fill('/pet/<rex>'), { name: 'x' })
    const [{ verb, data }] = await heard
    assert.deepEqual([verb, data.name], ['updated', 'x'])
    const error = once(socket as never, 'sails:parseError')
    socket.emit('get', {})
    assert.equal((await error)[0].status, 400)
    socket.disconnect()
  })

  test('is told that there is no other namespace', async () => {
    await using house = await House.open()
    const socket = io(`${house.server.url}/admin`, { transports: ['websocket'], forceNew: true })
    const [error] = await once(socket as never, 'connect_error')
    assert.equal(error.message, 'Invalid namespace')
    socket.disconnect()
  })
})

describe('coming back', () => {
  const options = { reconnectionDelay: 1, reconnectionDelayMax: 10 }

  /** A service that stops, and another on the same port. */
  async function restart(house: House): Promise<House> {
    const { port } = house.server
    await house.service.close()
    const service = (await createService({ models, database: 'memory:' })) as unknown as Service
    const server = await service.listen(port)
    return { service, server, [Symbol.asyncDispose]: () => service.close() } as unknown as House
  }

  test('sails.io.js does when the service stops, and follows nothing until it asks again', async () => {
    const house = await House.open()
    const client = await house.client({ reconnection: true, ...options })
    const gone = new Promise((resolve) => client.socket.on('disconnect', resolve))
    const back = new Promise((resolve) => client.socket.on('reconnect', resolve))
    await using again = await restart(house)
    await gone
    await back
    client.events.length = 0
    const { body } = await client.ask('post', '/pet', { name: 'Rex' })
    await client.ask('get', '/pet?limit=0')
    await fetch(`${again.server.url}/user/create?name=x`)
    await fetch(`${again.server.url}/pet/update/${body.id}?name=x`)
    await client.until((name, { verb }) => name === 'pet' && verb === 'updated')
    assert.deepEqual(client.events, [])
    client.close()
  })

  test('socket.io-client 4 does, too', async () => {
    const house = await House.open()
    const socket = io(house.server.url, { transports: ['websocket'], forceNew: true, ...options })
    await once(socket as never, 'connect')
    const gone = once(socket as never, 'disconnect')
    const back = once(socket.io as never, 'reconnect')
    await using _ = await restart(house)
    const [reason] = await gone
    assert.equal(reason, 'transport close')
    await back
    assert.equal((await socket.emitWithAck('get', { url: '/pet' })).statusCode, 200)
    socket.disconnect()
  })

  test('the goodbye comes after what is under way, also where a connection was used for HTTP before', async () => {
    await using house = await House.open()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ports = new Set<number | undefined>()
    const asked = get(`${house.server.url}/pet`, { agent })
    const [response] = await once(asked, 'response')
    ports.add(asked.socket?.localPort)
    response.resume()
    await once(response, 'end')
    await using socket = await RawSocket.open(`${house.server.url}/socket.io/?EIO=3&transport=websocket`, {}, agent)
    ports.add((socket.ws as unknown as { _socket: Socket })._socket.localPort)
    assert.equal(ports.size, 1)
    const { snapshot } = MemoryStore.prototype
    let closing: Promise<void> | undefined
    MemoryStore.prototype.snapshot = async function (this: MemoryStore, work) {
      MemoryStore.prototype.snapshot = snapshot
      closing = house.service.close()
      await turn()
      return snapshot.call(this, work) as never
    }
    assert.equal((await socket.ask('get', { url: '/pet' })).statusCode, 200)
    assert.equal(await socket.closed, 1001)
    await closing
  })

  test('a request whose connection goes is answered by the client itself', async () => {
    await using house = await House.open()
    const client = await house.client()
    const { snapshot } = MemoryStore.prototype
    MemoryStore.prototype.snapshot = function (this: MemoryStore) {
      MemoryStore.prototype.snapshot = snapshot
      client.socket._raw.io.engine.close()
      return new Promise(() => {}) as never
    }
    assert.equal((await client.ask('get', '/pet')).statusCode, 0)
  })
})

describe('settings:', () => {
  test('sockets can be turned off', async () => {
    await using house = await House.open({ sockets: false })
    assert.equal((await house.http('GET', '/__getcookie')).status, 404)
    assert.equal((await refusedUpgrade(`${house.server.url}/socket.io/?EIO=3&transport=websocket`)).status, 400)
    const request = { url: '/socket.io/?EIO=3&transport=websocket', headers: {} } as IncomingMessage
    assert.equal(house.service.upgrade(request, new PassThrough(), Buffer.alloc(0)), false)
  })

  test('who causes a change hears of it with mirror', async () => {
    await using house = await House.open({ sockets: { mirror: true } })
    const seed = await Seed.plant(house)
    const client = await house.client()
    await client.ask('get', '/pet?populate=false')
    await client.ask('patch', seed.fill('/pet/<rex>'), { name: 'x' })
    const events = await house.heard(client)
    assert.deepEqual(
      events.map((event) => inWords(event, seed)),
      ['pet rex updated'],
    )
  })

  test('another path', async () => {
    await using house = await House.open({ sockets: { path: '/live' } })
    const client = await house.client({ path: '/live' })
    assert.equal((await client.ask('get', '/pet')).statusCode, 200)
  })

  test('only these origins', async () => {
    await using house = await House.open({ sockets: { onlyAllowOrigins: ['https://shop.example'] } })
    const address = `${house.server.url}/socket.io/?EIO=3&transport=websocket`
    assert.equal((await refusedUpgrade(address, { Origin: house.server.url })).status, 403)
    await using socket = await RawSocket.connect(house.server.url, { Origin: 'https://shop.example' })
    // It may write by a shortcut, too: no link and no image can do that over a socket.
    const { statusCode } = await socket.ask('get', { url: '/pet/create?name=Rex' })
    assert.equal(statusCode, 201)
  })

  test('a page that connected may not pretend to be of another kind', async () => {
    await using house = await House.open()
    await using socket = await RawSocket.connect(house.server.url, {
      Origin: house.server.url,
      'Sec-Fetch-Site': 'cross-site',
    })
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    assert.equal((await socket.ask('post', { url: '/pet', data: { name: 'Rex' }, headers })).statusCode, 201)
  })

  test('what cannot be meant is refused', async () => {
    const wrong: readonly [settings: unknown, told: RegExp][] = [
      [true, /sockets is an object, or false/],
      [{ transports: ['polling'] }, /there is no setting "sockets\.transports"/],
      [{ mirror: 1 }, /sockets\.mirror is true or false/],
      [{ path: 'a b' }, /sockets\.path is a path/],
      [{ onlyAllowOrigins: ['https://shop.example/'] }, /sockets\.onlyAllowOrigins is a list of origins/],
      [{ onlyAllowOrigins: '*' }, /sockets\.onlyAllowOrigins is a list of origins/],
    ]
    for (const [sockets, told] of wrong) {
      await assert.rejects(createService({ models, database: 'memory:', sockets: sockets as never }), told)
    }
  })
})

test('over HTTP, other transports and the cookie script are answered on the same port', async () => {
  await using house = await House.open({ cors: { origins: ['https://app.example'] } })
  const polling = await fetch(`${house.server.url}/socket.io/?EIO=3&transport=polling`)
  assert.deepEqual([polling.status, await polling.json()], [400, { code: 0, message: 'Transport unknown' }])
  const script = await fetch(`${house.server.url}/__getcookie`, { headers: { Origin: 'https://app.example' } })
  assert.equal(script.headers.get('content-type'), 'application/javascript; charset=utf-8')
  assert.equal(script.headers.get('access-control-allow-origin'), 'https://app.example')
  assert.equal(script.headers.get('set-cookie'), null)
  assert.equal(await script.text(), '_sailsIoJSConnect();')
})
