import assert from 'node:assert/strict'
import type { Config, HttpServer, Json, ModelDefinitions, Service } from '../../../src/index.ts'
import { createService } from '../../../src/index.ts'
import { type Payload, SailsClient } from '../../support/sails-client.ts'

export const models = {
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
  /** When a client receives the event of a new mark, it has received all events before it. */
  mark: { attributes: {} },
} satisfies ModelDefinitions

export type Name = 'user' | 'pet' | 'group'

/** A service that listens on a port, and its clients. */
export class Fixture implements AsyncDisposable {
  readonly service: Service
  readonly server: HttpServer
  readonly reported: readonly unknown[]
  readonly #clients: SailsClient[] = []

  private constructor(service: Service, server: HttpServer, reported: readonly unknown[]) {
    this.service = service
    this.server = server
    this.reported = reported
  }

  static async open(config: Partial<Config> = {}): Promise<Fixture> {
    const reported: unknown[] = []
    const onError = (error: unknown) => reported.push(error)
    const service = (await createService({ models, database: 'memory:', onError, ...config })) as unknown as Service
    return new Fixture(service, await service.listen(0), reported)
  }

  /** A client that is subscribed to new marks, and to nothing else. */
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

  /** The events a client received of all changes made until now. */
  async eventsOf(client: SailsClient): Promise<(readonly [string, Payload])[]> {
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

/** Records by name: in URLs and bodies a name in angle brackets is replaced by the key. */
export class Seed {
  readonly ids = new Map<string, number>()
  readonly #fixture: Fixture

  private constructor(fixture: Fixture) {
    this.#fixture = fixture
  }

  /**
   * Ann owns Rex and is a member of the club; Bob, Tom and the guild have no associations. Names are unique, so that a
   * find by name returns only the records of this seed.
   */
  static async insert(fixture: Fixture): Promise<Seed> {
    const seed = new Seed(fixture)
    for (const [model, name] of records) {
      await seed.create(model, name, { name: `${name} ${++inserted}` })
      seed.names.set(name, `${name} ${inserted}`)
    }
    await fixture.http('PUT', seed.fill('/user/<ann>/pets/<rex>'))
    await fixture.http('PUT', seed.fill('/user/<ann>/groups/<club>'))
    return seed
  }

  readonly names = new Map<string, string>()

  async create(model: Name, name: string, data: Json): Promise<void> {
    const { body } = await this.#fixture.http('POST', `/${model}`, data)
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

let inserted = 0
export const records: readonly (readonly [Name, string])[] = [
  ['user', 'ann'],
  ['user', 'bob'],
  ['pet', 'rex'],
  ['pet', 'tom'],
  ['group', 'club'],
  ['group', 'guild'],
]

const target: Readonly<Record<string, Name>> = { pets: 'pet', likes: 'pet', groups: 'group', members: 'user' }

/** An event as a short text: `user ann addedTo pets rex`. */
export function describeEvent([model, payload]: readonly [string, Payload], seed: Seed): string {
  const { verb, id, attribute, addedId, removedId } = payload
  const words = [model, seed.nameOf(id, model), verb]
  if (attribute !== undefined) words.push(attribute, seed.nameOf(addedId ?? removedId, target[attribute] as string))
  return words.join(' ')
}

export type Request = readonly [method: string, url: string, data?: Json]
