import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { after, before, beforeEach, describe, test } from 'node:test'
import { action, createService, file, type HttpServer, type Json, reply } from '../../../src/index.ts'
import { eventually } from '../../support/eventually.ts'
import { SailsClient } from '../../support/sails-client.ts'

/* The source of a file or stream that an action answers with is ended once it will not be read on, whatever it is. */

/** A source that has one piece and then waits; `isEnded` tells whether it was released. */
interface Source {
  readonly content: Readable | ReadableStream<string> | AsyncIterable<string>
  isEnded(): boolean
}

const sources: Readonly<Record<string, () => Source>> = {
  'a Readable': () => {
    const content = new Readable({ read() {} })
    content.push('first')
    return { content, isEnded: () => content.destroyed }
  },
  'a Readable that fails when it ends': () => {
    const content = new Readable({
      read() {},
      destroy(_, callback) {
        callback(new Error('It could not be closed'))
      },
    })
    content.push('first')
    return { content, isEnded: () => content.destroyed }
  },
  'a web stream': () => {
    let isEnded = false
    const content = new ReadableStream<string>({
      start: (controller) => controller.enqueue('first'),
      cancel() {
        isEnded = true
      },
    })
    return { content, isEnded: () => isEnded }
  },
  'an iterator': () => {
    let isEnded = false
    let hasBegun = false
    const ended = Promise.withResolvers<IteratorResult<string>>()
    const iterator = {
      async next(): Promise<IteratorResult<string>> {
        if (hasBegun) return ended.promise
        hasBegun = true
        return { done: false, value: 'first' }
      },
      async return(): Promise<IteratorResult<string>> {
        isEnded = true
        ended.resolve({ done: true, value: undefined })
        return ended.promise
      },
    }
    return { content: { [Symbol.asyncIterator]: () => iterator }, isEnded: () => isEnded }
  },
}

/** Of the latest action. */
let source: Source
let newSource: () => Source
/** Until then an action takes longer than it may. */
let mayEnd = Promise.resolve()
const errors: Error[] = []
const open = () => {
  const make = () => {
    source = newSource()
    return source.content
  }
  const refused = {
    '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [{ message: 'is refused' }] }) },
  } as const
  return createService({
    database: 'sqlite::memory:',
    limits: { actionTimeoutMs: 50 },
    onError: (error) => errors.push(error as Error),
    models: {
      pet: {
        attributes: { name: { type: 'string' }, owner: { model: 'owner' } },
        actions: {
          write: action({
            on: 'model',
            run: async ({ tx }) => {
              await tx.pet.create({ name: 'Rex' })
              return file(make(), { name: 'x.txt' })
            },
          }),
          mistyped: action({
            on: 'model',
            run: async ({ tx }) => {
              await tx.pet.create({ name: 'Rex' })
              return file(make(), { type: 'text/plain\n' })
            },
          }),
          plain: action({ on: 'model', run: () => make() as never }),
          read: action({ on: 'model', method: 'GET', run: () => reply(file(make(), { name: 'x.txt' })) }),
          direct: action({ on: 'model', transaction: false, run: () => file(make()) }),
          overdue: action({
            on: 'model',
            transaction: false,
            run: async () => {
              await mayEnd
              return file(make())
            },
          }),
          refused: action({ on: 'model', result: refused as never, run: () => file(make()) as never }),
          uncommitted: action({
            on: 'model',
            run: async ({ tx }) => {
              await tx.pet.update(99, { name: 'Tom' }).catch(() => {})
              return file(make())
            },
          }),
        },
      },
      owner: { attributes: { name: { type: 'string' } } },
    },
  })
}

for (const [name, make] of Object.entries(sources)) {
  describe(`the source of an action: ${name}`, () => {
    let service: Awaited<ReturnType<typeof open>>
    let server: HttpServer
    before(async () => {
      service = await open()
      server = await service.listen(0, '127.0.0.1')
    })
    after(() => service.close())
    beforeEach(async () => {
      errors.length = 0
      newSource = make
      await service.system.records.pet.destroyMany({ where: { id: { '!=': null } } })
    })

    const post = (path: string, body?: Json, headers: Readonly<Record<string, string>> = {}) =>
      fetch(server.url + path, {
        method: 'POST',
        ...(body !== undefined && { body: JSON.stringify(body) }),
        headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      })
    const assertRefused = async () => {
      await eventually(() => source.isEnded())
      assert.equal(await service.system.records.pet.count(), 0)
    }

    for (const atomic of [true, false])
      for (const [method, action] of [
        ['POST', 'write'],
        ['POST', 'plain'],
        ['GET', 'read'],
        ...(atomic ? [] : ([['POST', 'direct']] as const)),
      ] as const)
        test(`${action} is refused in a batch, ${atomic ? 'atomic' : 'one by one'}, writes nothing and is ended`, async () => {
          const response = await post(`/batch?atomic=${atomic}`, [{ method, url: `/pet/${action}` }])
          const [{ status, body }] = (await response.json()) as [{ status: number; body: { detail: string } }]
          assert.equal(status, 400)
          assert.match(body.detail, /answers with a file: request it over HTTP, by itself/)
          await assertRefused()
        })

    test('with Idempotency-Key', async () => {
      assert.equal((await post('/pet/write', undefined, { 'Idempotency-Key': 'a' })).status, 400)
      await assertRefused()
    })

    test('over a socket', async () => {
      const client = await SailsClient.connect(server.url, { transports: ['websocket'] })
      assert.equal((await client.ask('post', '/pet/write')).statusCode, 400)
      client.close()
      await assertRefused()
    })

    test('that the schema of the result refuses', async () => {
      assert.equal((await post('/pet/refused')).status, 500)
      await assertRefused()
    })

    test('whose type no header may have', async () => {
      assert.equal((await post('/pet/mistyped')).status, 500)
      assert.match(String(errors[0]), /Invalid character in header content \["Content-Type"\]/)
      await assertRefused()
    })

    test('of a transaction that is rolled back afterwards', async () => {
      assert.equal((await post('/pet/uncommitted')).status, 404)
      await assertRefused()
    })

    test('that comes after the time limit', async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      mayEnd = promise
      assert.equal((await post('/pet/overdue')).status, 503)
      resolve()
      await assertRefused()
    })

    test('that no more comes from when the client leaves', async () => {
      const client = new AbortController()
      const response = await fetch(`${server.url}/pet/read`, { signal: client.signal })
      const first = await response.body?.getReader().read()
      assert.equal(Buffer.from(first?.value ?? []).toString(), 'first')
      assert.equal(source.isEnded(), false)
      client.abort()
      await eventually(() => source.isEnded())
      await new Promise((resolve) => setImmediate(resolve))
      assert.deepEqual(errors, [])
    })
  })
}
