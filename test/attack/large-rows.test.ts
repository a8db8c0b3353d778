import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { Client } from 'pg'
import { createService, type Service } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

const models = {
  owner: {
    attributes: { name: { type: 'string' }, text: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } },
  },
  pet: { attributes: { name: { type: 'string' }, text: { type: 'string' }, owner: { model: 'owner' } } },
  film: { attributes: { text: { type: 'string' }, owner: { model: 'owner' } } },
} as const

/** Together 75 MB. */
const petCount = 150
const bytesOfText = 500_000
const maxAnswerBytes = 1_500_000
const pets = '{"pets":{"limit":1000}}'
const herd = '{"owner":{"populate":{"pets":{"limit":1000}}}}'
/** What garbage collection and concurrent requests add; all pets of four requests at once would be 300 MB. */
const mostGrowth = 100_000_000

/** As another program. */
async function runSql(url: string, { sqlite, postgres }: { sqlite: string; postgres: string }): Promise<void> {
  if (!url.startsWith('sqlite:')) {
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query(postgres).finally(() => client.end())
    return
  }
  const database = new DatabaseSync(url.slice('sqlite:'.length))
  try {
    database.exec(sqlite)
  } finally {
    database.close()
  }
}

for (const database of databases) {
  if (database.name === 'memory') continue
  describe(`the memory of reads, ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Service
    const ask = async (path: string, body?: object, method = body ? 'POST' : 'GET') => {
      const response = await service.fetch(
        new Request(`http://localhost${path}`, {
          method,
          headers: { 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        }),
      )
      return { status: response.status, text: await response.text() }
    }

    before(async () => {
      opened = await database.open()
      service = (await createService({
        models,
        database: opened.url,
        populate: false,
        shapes: '/shape',
        // On a loaded machine, what a write embeds would take so long that it is read after the commit, and a transaction so long that it is ended.
        limits: { maxAnswerBytes, maxBodyBytes: 20_000_000, maxBlockMs: 500, transactionTimeoutMs: 60_000 },
      })) as never
      await ask('/owner', { name: 'Ann' })
      const text = 'x'.repeat(bytesOfText)
      const pets = Array.from({ length: 30 }, (_, index) => ({ name: `Rex ${index}`, text, owner: 1 }))
      for (let count = 0; count < petCount; count += pets.length) assert.equal((await ask('/pet', pets)).status, 201)
      await ask('/film', { owner: 1 })
      await runSql(opened.url, {
        sqlite: 'update film set text = hex(zeroblob(20000000))',
        postgres: "update film set text = repeat('00', 20000000)",
      })
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    /** While several are asked at once, by how much memory has grown at most. */
    const growthDuring = async (path: string, body?: object, method?: string) => {
      await ask(path, body, method) // plans, prepared statements and processes
      const before = process.memoryUsage.rss()
      let most = before
      const look = () => {
        most = Math.max(most, process.memoryUsage.rss())
      }
      const timer = setInterval(look, 1)
      const answers = await Promise.all(Array.from({ length: 4 }, () => ask(path, body, method)))
      clearInterval(timer)
      look()
      return { answers, growth: most - before }
    }

    for (const [name, path, body] of [
      ['a page', '/pet?limit=1000'],
      ['a page, sorted by an attribute without an index', '/pet?limit=1000&sort=name'],
      ['a page, filtered by an attribute without an index', '/pet?limit=1000&where={"name":{"contains":"Rex"}}'],
      ['the members of an association', '/owner/1/pets?limit=1000'],
      ['members within a list', '/owner?populate={"pets":{"limit":1000}}'],
      ['members within a record', '/owner/1?populate={"pets":{"limit":1000}}'],
      ['a batch', '/batch', [{ method: 'GET', url: '/pet?limit=1000' }]],
      [
        'a batch that writes',
        '/batch',
        [
          { method: 'POST', url: '/owner', body: {} },
          { method: 'GET', url: '/pet?limit=1000' },
        ],
      ],
    ] as const) {
      test(`${name}: rows are read as far as the response may be large`, async () => {
        const { answers, growth } = await growthDuring(path, body)
        for (const { status, text } of answers) {
          assert.equal(status, 400, text.slice(0, 1_000))
          assert.match(text, /"limit":"maxAnswerBytes"/)
        }
        assert.ok(growth < mostGrowth, `grew by ${Math.round(growth / 1e6)} MB`)
      })
    }

    for (const [name, path, body] of [
      ['one record', '/film/1'],
      ['one record, and what is embedded in it', '/film/1?populate=owner'],
      ['a page', '/film?where={"owner":1}'],
      ['a batch', '/batch', [{ method: 'GET', url: '/film/1' }]],
      [
        'a batch that writes',
        '/batch',
        [
          { method: 'POST', url: '/owner', body: {} },
          { method: 'GET', url: '/film/1' },
        ],
      ],
    ] as const) {
      test(`${name}: a text of another program, longer than any that a client could have sent, is not answered`, async () => {
        const { answers, growth } = await growthDuring(path, body)
        for (const { status, text } of answers) {
          assert.equal(status, 400, text.slice(0, 1_000))
          assert.match(text, /"limit":"maxAnswerBytes"/)
        }
        // PostgreSQL sends the row before its length is known.
        if (database.name === 'sqlite') assert.ok(growth < mostGrowth, `grew by ${Math.round(growth / 1e6)} MB`)
      })
    }

    for (const [name, path, body, method] of [
      ['new records', `/pet?populate=${herd}`, [{ owner: 1 }]],
      ['records that a condition matches', `/owner?where={"id":1}&populate=${pets}`, { name: 'Tom' }, 'PATCH'],
      ['destroyed records', `/owner?where={"id":1}&populate=${pets}`, undefined, 'DELETE'],
      ['a destroyed record', `/owner/1?populate=${pets}`, undefined, 'DELETE'],
      ['a batch', '/batch', [{ method: 'PATCH', url: `/owner/1?populate=${pets}`, body: { name: 'Tom' } }]],
    ] as const) {
      test(`a write of ${name} that would embed too much: nothing is written`, async () => {
        const { answers, growth } = await growthDuring(path, body, method)
        for (const { status, text } of answers) {
          assert.equal(status, 400, text.slice(0, 1_000))
          assert.match(text, /"limit":"maxAnswerBytes"/)
        }
        assert.ok(growth < mostGrowth, `grew by ${Math.round(growth / 1e6)} MB`)
        assert.notEqual(JSON.parse((await ask('/owner/1')).text).name, 'Tom')
        assert.equal((await ask('/pet?limit=1000&where={"text":null}')).text, '[]')
      })
    }

    test('a write of members that would embed too much: it is answered with the primary key', async () => {
      await ask('/owner', { name: 'Eve' })
      const { answers, growth } = await growthDuring(`/owner/1/pets/1?populate=${pets}`, {}, 'PUT')
      for (const { status, text } of answers) assert.deepEqual([status, text], [200, '{"id":1}'])
      assert.ok(growth < mostGrowth, `grew by ${Math.round(growth / 1e6)} MB`)
    })

    test('a write that would embed too much: it is answered with the primary key', async () => {
      const { answers, growth } = await growthDuring(
        '/owner/1?populate={"pets":{"limit":1000}}',
        { name: 'Bob' },
        'PATCH',
      )
      for (const { status, text } of answers) assert.deepEqual([status, text], [200, '{"id":1}'])
      assert.ok(growth < mostGrowth, `grew by ${Math.round(growth / 1e6)} MB`)
      assert.equal(JSON.parse((await ask('/owner/1')).text).name, 'Bob')
    })

    test('a shape: its pages have fewer records, so that each is an answer', async () => {
      const { answers, growth } = await growthDuring('/shape?table=pet&offset=-1')
      for (const { status, text } of answers) {
        assert.equal(status, 200, text.slice(0, 1_000))
        assert.ok(text.length <= maxAnswerBytes)
      }
      assert.ok(growth < mostGrowth, `grew by ${Math.round(growth / 1e6)} MB`)
      const keys = new Set<string>()
      let offset = '-1'
      let handle: string | null = null
      let isComplete = false
      while (!isComplete) {
        const query = `table=pet&offset=${offset}${handle === null ? '' : `&handle=${handle}`}`
        const response = await service.fetch(new Request(`http://localhost/shape?${query}`))
        for (const { key } of (await response.json()) as { key?: string }[]) if (key !== undefined) keys.add(key)
        offset = response.headers.get('electric-offset') as string
        handle = response.headers.get('electric-handle')
        isComplete = response.headers.has('electric-up-to-date')
      }
      assert.equal(keys.size, petCount)
    })

    test('a page of short values is answered', async () => {
      const { status, text } = await ask('/pet?limit=1000&select=name')
      assert.deepEqual([status, JSON.parse(text).length], [200, petCount])
    })
  })
}
