import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ConfigError, createService } from '../../src/index.ts'
import { describe as describeModels } from '../../src/model/describe.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* Computed attributes wherever attributes are: the same answers on every database, as one table of requests. */

// biome-ignore lint/suspicious/noExplicitAny: the types are the subject of `computed.types.ts`
type Any = any
const broken = { isOn: false }

const models = {
  person: {
    attributes: {
      createdAt: false,
      updatedAt: false,
      first: { type: 'string', required: true },
      last: { type: 'string', defaultsTo: '' },
      secret: { type: 'string', hidden: true },
      email: { type: 'string', access: { read: () => ({ first: 'Ann' }) } },
      boss: { model: 'person' },
      team: { collection: 'person', via: 'boss' },
      full: {
        type: 'string',
        computed: ['first', 'last'],
        get: ({ first, last }: Any) => {
          if (broken.isOn) throw new Error('broken')
          return `${first} ${last}`
        },
        sql: ({ first, last }: Any) => `${first} || ' ' || ${last}`,
      },
      shout: { type: 'string', computed: ['full'], get: ({ full }: Any) => full.toUpperCase() },
      digits: {
        type: 'number',
        computed: ['secret'],
        get: ({ secret }: Any) => secret?.length ?? 0,
        sql: {
          sqlite: ({ secret }: Any) => `coalesce(length(${secret}), 0)`,
          postgres: ({ secret }: Any) => `coalesce(length(${secret}), 0)`,
        },
      },
      domain: {
        type: 'string',
        computed: ['email'],
        get: ({ email }: Any) => email?.split('@')[1],
        sql: { sqlite: ({ email }: Any) => `substr(${email}, 3)`, postgres: ({ email }: Any) => `substr(${email}, 3)` },
      },
      address: {
        type: 'string',
        computed: ['email'],
        get: ({ email }: Any) => email,
        sql: ({ email }: Any) => email,
        access: { read: () => ({ first: 'Bob' }) },
      },
    },
    access: { read: true, create: true, update: true, destroy: true },
    hooks: { before: { update: (values: Any, { previous }: Any) => ({ ...previous, ...values }) } },
  },
}

/** The address of each list, and the values of it. */
const lists: readonly (readonly [query: string, name: string, values: readonly unknown[]])[] = [
  ['sort=id', 'full', ['Ann Zed', 'Bob Abe', 'Cid ']],
  ['sort=id&select=shout', 'shout', ['ANN ZED', 'BOB ABE', 'CID ']],
  ['sort=full%20DESC', 'id', [3, 2, 1]],
  ['sort=digits%20DESC&select=digits', 'digits', [3, 1, 0]],
  ['sort=boss.full&select=first', 'first', ['Ann', 'Bob', 'Cid']],
  ['sort=boss.full%20DESC', 'id', [3, 2, 1]],
  ['full=Bob%20Abe', 'id', [2]],
  ['where={"full":{"startsWith":"C"}}', 'id', [3]],
  ['where={"not":{"full":{"contains":"e"}}}', 'id', [3]],
  ['where={"boss":{"digits":3}}', 'id', [2]],
  ['where={"team":{"full":["Bob Abe","Cid "]}}', 'id', [1, 2]],
  ['where={"digits":{">":0}}&sort=id', 'digits', [3, 1]],
  // Masks: `email` is that of Ann only, `address` that of Bob only, and `domain` everyone's.
  ['sort=id', 'email', ['a@x.org', null, null]],
  ['sort=id', 'domain', ['x.org', 'y.org', 'z.org']],
  ['sort=id&select=domain', 'domain', ['x.org', 'y.org', 'z.org']],
  ['sort=id', 'address', [null, 'b@y.org', null]],
  ['where={"domain":"z.org"}', 'id', [3]],
  ['where={"address":"b@y.org"}', 'id', [2]],
  ['where={"address":"a@x.org"}', 'id', []],
  ['sort=address%20DESC,id', 'id', [2, 1, 3]],
  ['sort=domain%20DESC&select=email', 'email', [null, null, 'a@x.org']],
  ['sort=boss.address,id', 'id', [1, 2, 3]],
  ['omit=full&sort=id', 'full', [undefined, undefined, undefined]],
]
const refused: readonly (readonly [method: string, address: string, body: unknown, message: RegExp])[] = [
  ['GET', '/person?shout=X', undefined, /"shout" is computed without `sql`: it cannot be filtered or sorted/],
  ['GET', '/person?where={"boss":{"shout":"X"}}', undefined, /computed without `sql`/],
  ['GET', '/person?sort=shout', undefined, /computed without `sql`/],
  ['GET', '/person?sort=boss.shout', undefined, /computed without `sql`/],
  ['POST', '/person', { first: 'Dan', full: 'Dan Oz' }, /"full" is computed and cannot be written/],
  ['PATCH', '/person/1', { full: 'Dan Oz' }, /"full" is computed and cannot be written/],
  ['POST', '/person', { first: 'Dan', boss: { first: 'Eve', shout: 'E' } }, /"boss.shout" is computed/],
  ['GET', '/person/create?first=Dan&full=x', undefined, /"full" is computed/],
]

for (const database of databases) {
  describe(`computed attributes on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Any
    const reported: unknown[] = []
    const send = async (method: string, path: string, body?: unknown) => {
      const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }) }
      const headers = { 'content-type': 'application/json' }
      const response: Response = await service.fetch(new Request(`http://localhost${path}`, { ...init, headers }))
      return { status: response.status, body: (await response.json()) as Any, link: response.headers.get('link') }
    }
    before(async () => {
      opened = await database.open()
      const onError = (error: unknown) => reported.push(error)
      service = await createService({ database: opened.url, models: models as never, populate: false, onError })
      const { person } = service.system.records
      await person.create({ first: 'Ann', last: 'Zed', secret: 'xyz', email: 'a@x.org' })
      await person.create({ first: 'Bob', last: 'Abe', secret: 'x', email: 'b@y.org', boss: 1 })
      await person.create({ first: 'Cid', email: 'c@z.org', boss: 2 })
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    for (const [query, name, values] of lists) {
      test(`${name} of ${decodeURIComponent(query)}`, async () => {
        const { body } = await send('GET', `/person?${query}`)
        assert.deepEqual(
          body.map((record: Any) => record[name]),
          values,
        )
      })
    }

    for (const [method, address, body, message] of refused) {
      test(`${method} ${address} ${JSON.stringify(body) ?? ''} is refused`, async () => {
        const answer = await send(method, address, body)
        assert.equal(answer.status, 400)
        assert.match(answer.body.detail, message)
      })
    }

    for (const order of ['full', 'full DESC', 'digits DESC,full', 'address', 'boss.full DESC']) {
      test(`pages by ${order} are one after another`, async () => {
        const whole = (await send('GET', `/person?sort=${encodeURIComponent(order)}&select=id`)).body
        const pages: unknown[] = []
        let next: string | undefined = `/person?sort=${encodeURIComponent(order)}&select=id&limit=1`
        while (next) {
          const { body, link } = await send('GET', next)
          pages.push(...body)
          next = /<([^>]*)>; rel="next"/.exec(link ?? '')?.[1]
        }
        assert.deepEqual(pages, whole)
      })
    }

    test('populated records have them, with their rules', async () => {
      const { body } = await send('GET', '/person/2?populate=boss,team')
      assert.deepEqual(
        [body.full, body.boss.full, body.boss.email, body.boss.address, body.team[0].shout, body.team[0].email],
        ['Bob Abe', 'Ann Zed', 'a@x.org', null, 'CID ', null],
      )
    })

    test('answers to writes and events have them, of hidden attributes too', async () => {
      const events = service.system.records.person.live()
      const iterator = events[Symbol.asyncIterator]()
      assert.equal((await iterator.next()).value.verb, 'ready')
      const seenByOthers = service.as(null).records.person.live()[Symbol.asyncIterator]()
      await seenByOthers.next()
      const made = (await send('POST', '/person', { first: 'Dan', last: 'Oz', email: 'd@w.org' })).body
      assert.deepEqual([made.full, made.shout, made.digits], ['Dan Oz', 'DAN OZ', 0])
      const changed = await service.system.records.person.update(made.id, { secret: '12345' })
      assert.equal(changed.digits, 5)
      const gone = (await send('DELETE', `/person/${made.id}`)).body
      assert.equal(gone.full, 'Dan Oz')
      const created = (await iterator.next()).value
      assert.deepEqual([created.verb, created.data.full, created.data.digits], ['created', 'Dan Oz', 0])
      assert.equal('secret' in created.data, false)
      const seen = (await seenByOthers.next()).value.data
      assert.deepEqual([seen.email, seen.address, seen.domain, seen.digits], [null, null, 'w.org', 0])
      await seenByOthers.return?.()
      const updated = (await iterator.next()).value
      assert.deepEqual([updated.data, updated.previous.digits], [{ id: made.id, digits: 5 }, 0])
      const destroyed = (await iterator.next()).value
      assert.deepEqual([destroyed.verb, destroyed.previous.shout], ['destroyed', 'DAN OZ'])
      await iterator.return?.()
    })

    test('a condition on one selects events', async () => {
      const live = service.system.records.person.live({ where: { full: { startsWith: 'Eve' } } })
      const iterator = live[Symbol.asyncIterator]()
      await iterator.next()
      const { id } = await service.system.records.person.create({ first: 'Fay' })
      await service.system.records.person.update(id, { first: 'Eve' })
      const { verb, data } = (await iterator.next()).value
      assert.deepEqual([verb, data.full], ['created', 'Eve '])
      await iterator.return?.()
      await service.system.records.person.destroy(id)
    })

    // The memory store computes when it writes.
    const afterWriting =
      database.name === 'memory' ? [] : ['a get that fails is an error of the request, and no end of events']
    for (const title of afterWriting)
      test(title, async () => {
        const iterator = service.system.records.person.live()[Symbol.asyncIterator]()
        await iterator.next()
        const { id } = await service.system.records.person.create({ first: 'Gus' })
        assert.equal((await iterator.next()).value.data.full, 'Gus ')
        broken.isOn = true
        try {
          assert.equal((await send('GET', '/person')).status, 500)
          assert.match(String(reported[0]), /broken/)
          await service.system.records.person.destroy(id).catch(() => {})
          assert.equal((await iterator.next()).value.previous.full, null)
        } finally {
          broken.isOn = false
        }
        await iterator.return?.()
      })

    test('they are documented, without the names of hidden attributes', async () => {
      const [person]: Any = (describeModels(service.models) as Any).models
      const digits = person.attributes.find((attribute: Any) => attribute.name === 'digits')
      assert.deepEqual(
        [digits.type, digits.computed, digits.searchable, digits.column],
        ['number', [], true, undefined],
      )
      const page = await service.fetch(new Request('http://localhost/', { headers: { accept: 'text/html' } }))
      const text = await page.text()
      assert.match(text, /<th scope="row">shout<\/th><td>text<\/td><td>computed<\/td>/)
      assert.doesNotMatch(text, /secret/)
    })

    test('nothing is stored, and a service without them opens the same tables', async () => {
      if (database.name === 'memory') return
      const last = { type: 'string', defaultsTo: '' }
      const attributes = { createdAt: false, updatedAt: false, first: { type: 'string', required: true }, last }
      await using plain: Any = await createService({
        database: opened.url,
        models: { person: { attributes } } as never,
        migrate: 'safe',
      })
      assert.deepEqual(Object.keys((await plain.system.records.person.find()).data[0]), ['id', 'first', 'last'])
    })
  })
}

describe('an expression that the database does not accept', () => {
  for (const { name, missing, open } of databases.filter(({ name }) => name !== 'memory')) {
    test(`is reported at start on ${name}`, { skip: missing ?? false }, async () => {
      await using database = await open()
      const computed = (sql: (columns: Any) => string) => ({ type: 'string', computed: ['first'], get: String, sql })
      const attributes = {
        first: { type: 'string' },
        good: computed(({ first }) => `upper(${first})`),
        bad: computed(({ first }) => `uper(${first})`),
        worse: computed(({ first }) => `${first} ||`),
      }
      await assert.rejects(
        createService({ database: database.url, models: { pet: { attributes } } as Any }),
        (error) => {
          assert.ok(error instanceof ConfigError)
          const [bad, worse, ...others] = error.problems
          assert.match(bad ?? '', /^pet\.bad: the database does not accept its `sql`: .*uper/)
          assert.match(worse ?? '', /^pet\.worse: the database does not accept its `sql`: .*syntax error/)
          assert.deepEqual(others, [])
          return true
        },
      )
    })
  }
})

const name = { type: 'string' }
const mistakes: readonly (readonly [definition: object, message: RegExp])[] = [
  [{ type: 'string', computed: ['nmae'], get: String }, /`computed` names "nmae", which is not an attribute/],
  [{ type: 'string', computed: ['pets'], get: String }, /`computed` names "pets"/],
  [{ type: 'string', computed: ['it'], get: String }, /it depends on itself: it → it/],
  [{ type: 'string', computed: ['other'], get: String }, /it depends on itself: it → other → it/],
  [{ type: 'string', computed: [], get: String }, /`computed` must be a list of names/],
  [{ type: 'string', computed: ['nmae'], get: String }, /not an attribute with a value of pet; did you mean "name"\?/],
  [{ type: 'string', computed: ['name'] }, /needs `get`/],
  [{ type: 'string', computed: ['name'], get: async () => 'x' }, /`get` must be synchronous/],
  [{ type: 'string', get: String }, /needs `computed`/],
  [{ computed: ['name'], get: String }, /type/],
  [{ type: 'string', computed: ['name'], get: String, unique: true }, /`unique` cannot be used with `computed`/],
  [{ type: 'string', computed: ['name'], get: String, primaryKey: true }, /the primary key cannot be computed/],
  [{ type: 'string', computed: ['name'], get: String, sql: ({ nmae }: Any) => nmae }, /sqlite: "nmae" is not named/],
  [{ type: 'string', computed: ['name'], get: String, sql: () => '1; drop table x' }, /must be one expression/],
  [{ type: 'string', computed: ['name'], get: String, sql: { sqlite: () => '1' } }, /an object of functions for/],
  [
    { type: 'string', computed: ['plain'], get: String, sql: ({ plain }: Any) => plain },
    /"plain", which is computed without `sql`/,
  ],
]
for (const [it, message] of mistakes) {
  test(`a mistake is reported at start: ${message}`, async () => {
    const other = { type: 'string', computed: ['it'], get: String }
    const plain = { type: 'string', computed: ['name'], get: String }
    const isCycle = message.source.includes('other')
    const attributes = { name, it, pets: { collection: 'pet' }, plain, ...(isCycle && { other }) }
    await assert.rejects(createService({ database: 'memory:', models: { pet: { attributes } } as never }), message)
  })
}
