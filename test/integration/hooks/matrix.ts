import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService, refuse, ServiceError } from '../../../src/index.ts'
import type { Json } from '../../../src/protocol/json.ts'
import type { DatabaseKind, TestDatabase } from '../../support/databases.ts'
import { type OpenApi, overFetch, overHttp, overSockets } from '../conformance/transports.ts'

/*
 * Every hook on every path of a write, with every outcome. What is not a success must leave all tables as they were.
 */

export const writes = ['create', 'update', 'destroy'] as const
export type Write = (typeof writes)[number]
const moments = ['before', 'within'] as const
export type Outcome = 'success' | 'refusal' | 'failure' | 'timeout'

interface Loose {
  create(values: object): Promise<{ id: number }>
  update(id: number, values: object): Promise<unknown>
  destroy(id: number): Promise<unknown>
  remove(id: number, association: string, member: number): Promise<unknown>
  find(options: object): Promise<{ data: readonly { readonly [name: string]: Json }[] }>
}
type LooseRecords = { readonly [model in 'pet' | 'owner' | 'home' | 'audit']: Loose }

/** A service whose hooks do what a test says. */
export class HookedService {
  readonly calls: string[] = []
  acting = ''
  outcome: Outcome = 'success'
  reported: unknown[] = []
  #database: TestDatabase | undefined
  #service: Awaited<ReturnType<typeof createService>> | undefined

  async open(database: DatabaseKind, limits: object = {}): Promise<void> {
    this.#database = await database.open()
    this.#service = (await createService({
      database: this.#database.url,
      limits: { maxMessagesPerSecond: 1_000_000, ...limits },
      onError: (error) => this.reported.push(error),
      models: {
        owner: {
          attributes: {
            name: { type: 'string' },
            favourite: { model: 'pet' },
            pets: { collection: 'pet', via: 'owner' },
          },
        },
        home: { attributes: { name: { type: 'string' } } },
        pet: {
          attributes: {
            name: { type: 'string', required: true },
            tag: { type: 'string' },
            owner: { model: 'owner' },
            home: { model: 'home', onDestroy: 'cascade' },
          },
          hooks: {
            before: {
              create: (values) => this.#act('before.create', { ...values, tag: 'created' }),
              update: (values, { previous }) => this.#act('before.update', { ...values, tag: `after ${previous.tag}` }),
              destroy: ({ previous }) => this.#act('before.destroy', previous),
            },
            within: {
              create: ({ record, tx }) => this.#audit('create', tx, undefined, record),
              update: ({ previous, record, tx }) => this.#audit('update', tx, previous, record),
              destroy: ({ previous, tx }) => this.#audit('destroy', tx, previous, undefined),
            },
          },
        },
        audit: { attributes: { text: { type: 'string' } } },
      },
    })) as never
  }

  get service() {
    return this.#service as Awaited<ReturnType<typeof createService>>
  }

  get records(): LooseRecords {
    return this.service.system.records as never
  }

  async close(): Promise<void> {
    await this.service.close()
    await this.#database?.[Symbol.asyncDispose]()
  }

  /** An owner with one pet, which has a home, and another owner; written while no hook is to refuse. */
  async seed(): Promise<Ids> {
    this.acting = ''
    const { id: owner } = await this.records.owner.create({ name: 'Ann' })
    const { id: other } = await this.records.owner.create({ name: 'Bob' })
    const { id: home } = await this.records.home.create({ name: 'Barn' })
    const { id: pet } = await this.records.pet.create({ name: 'Rex', owner, home })
    this.calls.length = 0
    this.reported = []
    return { owner, other, home, pet }
  }

  async state(): Promise<unknown> {
    const tables = (['owner', 'home', 'pet', 'audit'] as const).map((name) => this.records[name].find({ limit: 1000 }))
    return (await Promise.all(tables)).map(({ data }) => data)
  }

  async lastAudit(): Promise<Json | undefined> {
    return (await this.records.audit.find({ sort: 'id DESC', limit: 1 })).data[0]?.text
  }

  async #act<T>(hook: string, result: T): Promise<T> {
    this.calls.push(hook)
    await undefined
    if (this.acting !== hook) return result
    switch (this.outcome) {
      case 'success':
        return result
      case 'refusal':
        throw refuse(409, 'NOT_TODAY', 'Not today', { hook })
      case 'failure':
        throw new Error('a secret of the application')
      case 'timeout':
        return new Promise(() => {})
    }
  }

  async #audit(
    write: Write,
    tx: LooseRecords,
    previous: { tag: string } | undefined,
    record: { tag: string } | undefined,
  ) {
    await tx.audit.create({ text: `${write}: ${previous?.tag} -> ${record?.tag}` })
    await this.#act(`within.${write}`, undefined)
  }
}

interface Ids {
  readonly owner: number
  readonly other: number
  readonly home: number
  readonly pet: number
}

interface Answer {
  readonly status: number
  readonly text: string
}
type Path = (write: Write, ids: Ids) => Promise<Answer>

const rest =
  (api: () => OpenApi): Path =>
  (write, { pet }) => {
    if (write === 'create') return api().request('POST', '/pet', { body: { name: 'Tom' } })
    if (write === 'update') return api().request('PATCH', `/pet/${pet}`, { body: { name: 'Tom' } })
    return api().request('DELETE', `/pet/${pet}`)
  }

const shortcut =
  (api: () => OpenApi): Path =>
  (write, { pet }) =>
    api().request('GET', write === 'create' ? '/pet/create?name=Tom' : `/pet/${write}/${pet}?name=Tom`)

const batch =
  (api: () => OpenApi): Path =>
  (write, { pet }) => {
    const earlier = { method: 'POST', url: '/audit', body: { text: 'an earlier request of the batch' } }
    const requests: Readonly<Record<Write, Json>> = {
      create: { method: 'POST', url: '/pet', body: { name: 'Tom' } },
      update: { method: 'PATCH', url: `/pet/${pet}`, body: { name: 'Tom' } },
      destroy: { method: 'DELETE', url: `/pet/${pet}` },
    }
    return api().request('POST', '/batch', { body: [earlier, requests[write]] })
  }

const many =
  (api: () => OpenApi): Path =>
  (write, { pet }) => {
    if (write === 'create') return api().request('POST', '/pet', { body: [{ name: 'Tom' }] })
    const where = `/pet?where=${encodeURIComponent(JSON.stringify({ id: [pet] }))}`
    return write === 'update'
      ? api().request('PATCH', where, { body: { name: 'Tom' } })
      : api().request('DELETE', where)
  }

/** Keys that are given do not meet those that the database generates, which follow the largest one. */
let unusedId = 900_000_000
const upsert =
  (api: () => OpenApi): Path =>
  (write, { pet }) =>
    api().request('POST', '/pet?upsert=id', { body: { id: write === 'create' ? --unusedId : pet, name: 'Tom' } })

/** Code in this process: its result as a status. */
async function inProcess(work: () => Promise<unknown>): Promise<Answer> {
  try {
    return { status: 200, text: JSON.stringify(await work()) }
  } catch (error) {
    const isAnswer = error instanceof ServiceError
    return { status: isAnswer ? error.status : 500, text: isAnswer ? error.message : '' }
  }
}

const on = (records: LooseRecords, write: Write, pet: number): Promise<unknown> => {
  if (write === 'create') return records.pet.create({ name: 'Tom' })
  return write === 'update' ? records.pet.update(pet, { name: 'Tom' }) : records.pet.destroy(pet)
}

const statusOf: Readonly<Record<Outcome, number>> = { success: 200, refusal: 409, failure: 500, timeout: 503 }
const auditOf: Readonly<Record<Write, string>> = {
  create: 'create: undefined -> created',
  update: 'update: created -> after created',
  destroy: 'destroy: created -> undefined',
}

/** `kind`: the paths on which a request writes the record itself, or those on which it changes with another one. */
export function testHookMatrix(
  database: DatabaseKind,
  kind: 'own' | 'linked',
  outcomes: readonly Outcome[],
  limits?: object,
): void {
  describe(`hooks on ${database.name}, ${kind} records`, { skip: database.missing ?? false }, () => {
    const hooked = new HookedService()
    const open = new Map<string, OpenApi>()
    const api = (name: string) => () => open.get(name) as OpenApi
    before(async () => {
      await hooked.open(database, limits)
      for (const transport of [overHttp, overFetch, overSockets])
        open.set(transport.name, await transport.open(hooked.service))
    })
    after(async () => {
      for (const opened of open.values()) await opened.close()
      await hooked.close()
    })

    const paths: Readonly<Record<string, Path>> = {
      REST: rest(api('http')),
      fetch: rest(api('fetch')),
      shortcut: shortcut(api('http')),
      socket: rest(api('socket')),
      batch: batch(api('http')),
      'batch over a socket': batch(api('socket')),
      'many records': many(api('http')),
      'in-process': (write, { pet }) => inProcess(() => on(hooked.records, write, pet)),
      transaction: (write, { pet }) =>
        inProcess(() => hooked.service.system.transaction((tx) => on(tx as unknown as LooseRecords, write, pet))),
    }
    const upserts: Readonly<Record<string, Path>> = { upsert: upsert(api('http')) }
    /** In these a record can be created only. */
    const nested: Readonly<Record<string, Path>> = {
      'nested in a create': () =>
        api('http')().request('POST', '/owner', { body: { name: 'Bob', pets: [{ name: 'Tom' }] } }),
      'nested in an update': (_, { owner, pet }) =>
        api('http')().request('PATCH', `/owner/${owner}`, { body: { name: 'Bob', pets: [pet, { name: 'Tom' }] } }),
      'referred to by a create': () =>
        api('http')().request('POST', '/owner', { body: { name: 'Bob', favourite: { name: 'Tom' } } }),
      'added to an association': (_, { owner }) =>
        api('http')().request('POST', `/owner/${owner}/pets`, { body: { name: 'Tom' } }),
    }

    /** In these a foreign key changes, because a record becomes or ceases to be a member. */
    const memberships: Readonly<Record<string, Path>> = {
      'moved to another record': (_, { other, pet }) => api('http')().request('PUT', `/owner/${other}/pets/${pet}`),
      'removed from an association': (_, { owner, pet }) =>
        api('fetch')().request('DELETE', `/owner/${owner}/pets/${pet}`),
      'removed by a shortcut': (_, { owner, pet }) =>
        api('http')().request('GET', `/owner/${owner}/pets/remove/${pet}`),
      'removed over a socket': (_, { owner, pet }) => api('socket')().request('DELETE', `/owner/${owner}/pets/${pet}`),
      'removed in process': (_, { owner, pet }) => inProcess(() => hooked.records.owner.remove(owner, 'pets', pet)),
      'removed in a transaction': (_, { owner, pet }) =>
        inProcess(() =>
          hooked.service.system.transaction((tx) => (tx as unknown as LooseRecords).owner.remove(owner, 'pets', pet)),
        ),
      'not among the replacements': (_, { owner }) =>
        api('http')().request('PUT', `/owner/${owner}/pets`, { body: [] }),
      'among the replacements': (_, { other, pet }) =>
        api('http')().request('PUT', `/owner/${other}/pets`, { body: [pet] }),
      'member of a new record': (_, { pet }) =>
        api('http')().request('POST', '/owner', { body: { name: 'Kim', pets: [pet] } }),
      'member in a list of new records': (_, { pet }) =>
        api('http')().request('POST', '/owner', { body: [{ name: 'Kim' }, { name: 'Eva', pets: [pet] }] }),
      'member in an update': (_, { other, pet }) =>
        api('http')().request('PATCH', `/owner/${other}`, { body: { pets: [pet] } }),
      'left out in an update': (_, { owner }) =>
        api('http')().request('PATCH', `/owner/${owner}`, { body: { pets: [] } }),
      'left out in an upsert': (_, { owner }) =>
        api('http')().request('POST', '/owner?upsert=id', { body: { id: owner, pets: [] } }),
      'left out in a batch': (_, { owner }) =>
        api('http')().request('POST', '/batch', {
          body: [
            { method: 'POST', url: '/audit', body: { text: 'earlier' } },
            { method: 'PUT', url: `/owner/${owner}/pets`, body: [] },
          ],
        }),
      'cleared by a destroy': (_, { owner }) => api('http')().request('DELETE', `/owner/${owner}`),
      'cleared by a destroy of many': (_, { owner }) =>
        api('http')().request('DELETE', `/owner?where=${encodeURIComponent(JSON.stringify({ id: [owner] }))}`),
    }
    /** In these a record is destroyed with another one. */
    const cascades: Readonly<Record<string, Path>> = {
      'destroyed with its home': (_, { home }) => api('http')().request('DELETE', `/home/${home}`),
      'destroyed with one of many homes': (_, { home }) =>
        api('http')().request('DELETE', `/home?where=${encodeURIComponent(JSON.stringify({ id: [home] }))}`),
      'destroyed with its home in a batch': (_, { home }) =>
        api('http')().request('POST', '/batch', { body: [{ method: 'DELETE', url: `/home/${home}` }] }),
    }
    type Tested = readonly (readonly [paths: Readonly<Record<string, Path>>, writes: readonly Write[]])[]
    const tested: Tested =
      kind === 'own'
        ? [
            [paths, writes],
            [upserts, ['create', 'update']],
            [nested, ['create']],
          ]
        : [
            [memberships, ['update']],
            [cascades, ['destroy']],
          ]

    for (const outcome of outcomes) {
      for (const [paths, of] of tested) {
        for (const moment of moments) {
          for (const [[name, path], write] of Object.entries(paths).flatMap((path) =>
            of.map((w) => [path, w] as const),
          )) {
            const hook = `${moment}.${write}`
            test(`${hook}: ${outcome}, ${name}`, async () => {
              const ids = await hooked.seed()
              const earlier = await hooked.state()
              Object.assign(hooked, { acting: hook, outcome })
              const { status, text } = await path(write, ids)
              hooked.acting = ''
              assert.equal(status === 201 ? 200 : status, statusOf[outcome], text)
              assert.doesNotMatch(text, /secret/)
              const whole = [`before.${write}`, `within.${write}`]
              if (outcome === 'success') {
                assert.deepEqual(hooked.calls, whole)
                assert.equal(await hooked.lastAudit(), auditOf[write])
              } else {
                assert.deepEqual(hooked.calls, moment === 'before' ? whole.slice(0, 1) : whole)
                assert.deepEqual(await hooked.state(), earlier)
              }
            })
          }
        }
      }
    }
  })
}
