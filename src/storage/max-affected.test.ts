import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { Client } from 'pg'
import { databases } from '../../test/support/databases.ts'
import { createService } from '../index.ts'
import type { Json } from '../protocol/json.ts'

const models = {
  owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: {
    attributes: { name: { type: 'string' }, owner: { model: 'owner' }, tags: { collection: 'tag', via: 'pets' } },
  },
  tag: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'tags' } } },
} as const

const maxAffected = 350

/** Owner 1 and tag 1 have more pets than one operation may change; owner 2 and tag 2 have several slices of them. */
const rows = (numbers: (count: number) => string): readonly string[] => [
  `insert into owner (id, name) values (1, 'Ann'), (2, 'Ben')`,
  `insert into pet (id, name, owner) select i, 'Pet ' || i, case when i <= 400 then 1 else 2 end from ${numbers(700)}`,
  `insert into tag (id, name) values (1, 'large'), (2, 'small')`,
  `insert into pet_tags__tag_pets (pet_tags, tag_pets) select i, 1 from ${numbers(400)}`,
  `insert into pet_tags__tag_pets (pet_tags, tag_pets) select i, 2 from ${numbers(300)}`,
]

function fillSqlite(url: string): void {
  using database = new DatabaseSync(url.replace('sqlite:', ''))
  const numbers = (count: number) =>
    `(with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count}) select i from n)`
  database.exec(rows(numbers).join(';'))
}

async function fillPostgres(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  for (const statement of rows((count) => `generate_series(1, ${count}) i`)) await client.query(statement)
  await client.end()
}

for (const database of databases.filter(({ name }) => name !== 'memory')) {
  describe(`maxAffected on ${database.name}`, { skip: database.missing ?? false }, () => {
    const run = async (
      work: (ask: (method: string, path: string, body?: Json) => Promise<unknown>) => Promise<void>,
    ) => {
      await using opened = await database.open()
      const { url } = opened
      await using service = await createService({
        database: url,
        models,
        attributes: { createdAt: false, updatedAt: false },
        limits: { maxAffected },
      })
      await (database.name === 'sqlite' ? fillSqlite(url) : fillPostgres(url))
      await work(async (method, path, body) => {
        const request = new Request(`http://localhost${path}`, {
          method,
          headers: { 'content-type': 'application/json' },
          body: body === undefined ? null : JSON.stringify(body),
        })
        const response = await service.fetch(request)
        const text = await response.text()
        const { code, limit } = (text === '' ? {} : JSON.parse(text)) as { code?: string; limit?: string }
        return code === undefined
          ? [response.status, response.headers.get('x-total-count')]
          : [response.status, code, limit]
      })
    }
    const refused = [409, 'E_CONFLICT', 'maxAffected']

    for (const [what, method, path, body, count, before] of [
      ['destroying a record', 'DELETE', '/owner/1', undefined, '/pet?where={"owner":1}', '400'],
      ['replacing members by none', 'PUT', '/owner/1/pets', [], '/pet?where={"owner":1}', '400'],
      ['destroying a record with junction rows', 'DELETE', '/tag/1', undefined, '/tag/1/pets?limit=1', '400'],
      ['replacing junction rows by none', 'PUT', '/tag/1/pets', [], '/tag/1/pets?limit=1', '400'],
    ] as const) {
      test(`${what} that changes more records is refused, and changes nothing`, () =>
        run(async (ask) => {
          assert.deepEqual(await ask(method, path, body), refused)
          const page = `${count}${count.includes('?') ? '&' : '?'}count=true&populate=false`
          assert.deepEqual(await ask('GET', page), [200, before])
        }))
    }

    for (const [what, method, path, count] of [
      ['destroying a record', 'DELETE', '/owner/2', '/pet?where={"owner":null}'],
      ['replacing members by none', 'PUT', '/owner/2/pets', '/pet?where={"owner":null}'],
    ] as const) {
      test(`${what} that changes fewer records changes all of them`, () =>
        run(async (ask) => {
          const [status] = (await ask(method, path, method === 'PUT' ? [] : undefined)) as [number]
          assert.equal(status, 200)
          assert.deepEqual(await ask('GET', `${count}&count=true&limit=1&populate=false`), [200, '300'])
          assert.deepEqual(await ask('GET', '/pet?where={"owner":1}&count=true&limit=1&populate=false'), [200, '400'])
        }))
    }

    test('junction rows of other records are not changed', () =>
      run(async (ask) => {
        const [status] = (await ask('DELETE', '/tag/2')) as [number]
        assert.equal(status, 200)
        assert.deepEqual(await ask('GET', '/tag/1/pets?count=true&limit=1'), [200, '400'])
      }))
  })
}

for (const database of databases.filter(({ name }) => name !== 'memory')) {
  describe(`maxAffectedBytes on ${database.name}`, { skip: database.missing ?? false }, () => {
    /** An owner with 20 pets of 100 kB each, and one with 10. */
    const open = async () => {
      const opened = await database.open()
      const service = await createService({
        database: opened.url,
        models,
        limits: { maxAffectedBytes: 1_500_000 },
      })
      const { owner, pet } = service.system.records
      for (const [name, count] of [
        ['many', 20],
        ['few', 10],
      ] as const) {
        const { id } = await owner.create({ name })
        for (let index = 0; index < count; index++) await pet.create({ name: 'é'.repeat(50_000), owner: id })
      }
      const ask = async (method: string, path: string, body?: Json) => {
        const init = { method, headers: { 'content-type': 'application/json' } }
        const request = new Request(`http://localhost${path}`, {
          ...init,
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        const response = await service.fetch(request)
        const { limit } = JSON.parse(await response.text()) as { limit?: string }
        return [response.status, ...(limit === undefined ? [] : [limit])]
      }
      return {
        service,
        ask,
        async [Symbol.asyncDispose]() {
          await service.close()
          await opened[Symbol.asyncDispose]()
        },
      }
    }

    for (const [what, method, path, body] of [
      ['changing records by a condition', 'PATCH', '/pet?where={"owner":ID}', { owner: null }],
      ['the same, counted', 'PATCH', '/pet?count=true&where={"owner":ID}', { owner: null }],
      ['destroying records by a condition', 'DELETE', '/pet?where={"owner":ID}', undefined],
      ['the same, counted', 'DELETE', '/pet?count=true&where={"owner":ID}', undefined],
      ['destroying the record that they refer to', 'DELETE', '/owner/ID', undefined],
      ['replacing members by none', 'PUT', '/owner/ID/pets', []],
    ] as const) {
      test(`${what}: refused where they are too large together, and changes nothing; else done`, async () => {
        await using opened = await open()
        const { service, ask } = opened
        const { pet } = service.system.records
        assert.deepEqual(await ask(method, path.replace('ID', '1'), body), [409, 'maxAffectedBytes'])
        assert.equal(await pet.count({ where: { owner: 1 } }), 20)
        assert.deepEqual(await ask(method, path.replace('ID', '2'), body), [200])
        assert.equal(await pet.count({ where: { owner: 2 } }), 0)
      })
    }
  })
}

for (const database of databases) {
  describe(`what hooks change counts for the limits on ${database.name}`, { skip: database.missing ?? false }, () => {
    const values = (count: number, text: string) => Array.from({ length: count }, () => ({ text }))
    const hooks: Readonly<Record<string, (tx: Records, count: number) => Promise<unknown>>> = {
      'adds one record after the other': async (tx, count) => {
        for (const value of values(count, '')) await tx.row?.create(value)
      },
      'adds them at once': (tx, count) => tx.row?.createMany(values(count, '')) as Promise<unknown>,
      'catches the failure': async (tx, count) => {
        for (const value of values(count, '')) await tx.row?.create(value).catch(() => {})
      },
      'adds them by the hook of another model': (tx, count) => tx.order?.create({ count }) as Promise<unknown>,
    }
    for (const [what, add] of Object.entries(hooks)) {
      for (const [count, expected] of [
        [2, [201, undefined, undefined]],
        [9, [409, 'E_CONFLICT', 'maxAffected']],
      ] as const) {
        test(`a hook that ${what}, ${count} in all, gives ${expected[0]}`, async () => {
          await using opened = await database.open()
          const errors: unknown[] = []
          await using service = await createService({
            database: opened.url,
            onError: (error) => errors.push(error),
            limits: { maxAffected: 4 },
            models: {
              row: { attributes: { text: { type: 'string' } } },
              order: {
                attributes: { count: { type: 'number' } },
                hooks: {
                  within: {
                    create: ({ record, tx }) => hooks['adds them at once']?.(tx as never, Number(record.count)),
                  },
                },
              },
              note: {
                attributes: {},
                hooks: { within: { create: ({ tx }) => add(tx as never, count) } },
              },
            },
          })
          const response = await service.fetch(new Request('http://localhost/note', { method: 'POST' }))
          const { code, limit, model } = (await response.json()) as { code?: string; limit?: string; model?: string }
          assert.deepEqual([response.status, code, limit], expected)
          assert.equal(model, undefined, 'the requester may not know the model')
          assert.deepEqual(errors, [])
          const written = await service.system.records.row.count()
          assert.equal(written, expected[0] === 201 ? count : 0)
        })
      }
    }
  })
}

type Records = Readonly<
  Record<string, { create(values: object): Promise<unknown>; createMany(values: readonly object[]): Promise<unknown> }>
>
