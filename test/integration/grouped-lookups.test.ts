import assert from 'node:assert/strict'
import { describe, mock, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { PipelinedConnection } from '../../src/storage/postgres/client/pipelined-connection.ts'
import { missingPostgres } from '../support/postgres.ts'
import { type SchemaDatabase, schemaDatabases } from '../support/schema-databases.ts'

const postgres = schemaDatabases.find(({ name }) => name === 'postgres') as (typeof schemaDatabases)[number]
const options = { skip: missingPostgres ?? false }

const name = { type: 'string' } as const
const keyOf = (type: 'number' | 'string', columnType?: string) =>
  ({ type, required: true, ...(columnType && { columnType }) }) as const
const timeless = { createdAt: false, updatedAt: false } as const

async function serve(database: SchemaDatabase) {
  const service = await createService({
    database: database.url,
    auth: { identify: ({ headers }) => (headers.city === undefined ? null : { city: String(headers.city) }) },
    models: {
      pet: { attributes: { ...timeless, name } },
      tool: { attributes: { ...timeless, code: keyOf('string'), name }, primaryKey: 'code' },
      old: { attributes: { ...timeless, name, id: keyOf('number', 'numeric(9,2)') } },
      house: {
        attributes: { ...timeless, name, city: { type: 'string' } },
        access: { read: ({ user }) => (user ? { city: user.city } : true) },
      },
    },
  })
  /** The texts of the statements that lookups were sent as, since the last call. */
  let texts: string[] = []
  const { send } = PipelinedConnection.prototype
  const sending = mock.method(PipelinedConnection.prototype, 'send', function (this: PipelinedConnection, ...parts) {
    const [{ text, values }] = parts
    if (/"(?:pet|tool|old|house)" where/.test(text)) texts.push(`${text} ${JSON.stringify(values)}`)
    return send.apply(this, parts)
  } satisfies typeof send)
  const ask = (paths: readonly string[], city?: string): Promise<readonly string[]> => {
    const headers = city === undefined ? undefined : { city }
    const responses = paths.map((path) => service.fetch(new Request(`http://localhost${path}`, { headers })))
    return Promise.all(responses.map(async (response) => nameIn(await response)))
  }
  // Both connections are opened.
  await ask(['/pet/1', '/house/1'])
  return {
    records: service.system.records,
    /** What records at these paths are answered with, asked for in one turn. */
    ask,
    sent(): readonly string[] {
      const sent = texts
      texts = []
      return sent
    },
    async [Symbol.asyncDispose]() {
      sending.mock.restore()
      await service.close()
    },
  }
}

const nameIn = async (response: Response) => {
  const { name } = (await response.json()) as { readonly name?: string }
  return response.ok ? String(name) : String(response.status)
}

describe('records that are read by their keys in one turn, on PostgreSQL', () => {
  test('are one statement, and each request gets its record', options, async () => {
    await using database = await postgres.open()
    await using served = await serve(database)
    await served.records.pet.createMany([1, 2, 3, 4].map((number) => ({ name: `pet ${number}` })))
    served.sent()
    const paths = ['/pet/3', '/pet/1', '/pet/3', '/pet/99', '/pet/2', '/pet/9007199254740991', '/pet/04']
    assert.deepEqual(await served.ask(paths), ['pet 3', 'pet 1', 'pet 3', '404', 'pet 2', '404', 'pet 4'])
    const sent = served.sent()
    assert.equal(sent.length, 1, sent.join('\n'))
    assert.match(sent[0] as string, /= any\(/)
  })

  test('are so where a rule has the same outcome for their requesters', options, async () => {
    await using database = await postgres.open()
    await using served = await serve(database)
    await served.records.house.createMany(['Bern', 'Oslo', 'Bern'].map((city) => ({ name: city, city })))
    served.sent()
    const paths = ['/house/1', '/house/2', '/house/3']
    const [bern, oslo] = await Promise.all(['Bern', 'Oslo'].map((city) => served.ask(paths, city)))
    assert.deepEqual(bern, ['Bern', '404', 'Bern'])
    assert.deepEqual(oslo, ['404', 'Oslo', '404'])
    const sent = served.sent()
    assert.equal(sent.length, 2, sent.join('\n'))
  })

  test('are a statement each where a key may be spelled in several ways', options, async () => {
    await using database = await postgres.open()
    await using served = await serve(database)
    await served.records.tool.createMany([
      { code: 'a', name: 'first' },
      { code: 'A', name: 'second' },
    ])
    await served.records.old.create({ id: 7, name: 'seven' })
    served.sent()
    assert.deepEqual(await served.ask(['/tool/A', '/tool/a', '/old/7', '/old/7.00']), [
      'second',
      'first',
      'seven',
      'seven',
    ])
    assert.equal(served.sent().length, 4)
  })

  test('are what each is by itself where tables that inherit have the same keys', options, async () => {
    await using database = await postgres.open()
    await using served = await serve(database)
    await served.records.pet.createMany([1, 2].map((number) => ({ name: `pet ${number}` })))
    await database.execute(
      `create table guest () inherits (pet); insert into guest (id, name) values (1, 'guest 1'), (3, 'guest 3')`,
    )
    const paths = ['/pet/1', '/pet/2', '/pet/3']
    const alone: string[] = []
    for (const path of paths) alone.push(...(await served.ask([path])))
    served.sent()
    assert.deepEqual(await served.ask(paths), alone)
    assert.equal(served.sent().length, 1)
  })

  test('are a statement each for a while, where records are long', options, async () => {
    await using database = await postgres.open()
    await using served = await serve(database)
    await served.records.pet.createMany([1, 2].map((number) => ({ name: String(number).repeat(20_000) })))
    served.sent()
    const counts: number[] = []
    for (let count = 0; count < 3; count++) {
      await served.ask(['/pet/1', '/pet/2'])
      counts.push(served.sent().length)
    }
    assert.deepEqual(counts, [1, 2, 2])
  })

  test('are read when a lock on the table is released, and wait for it as one statement', options, async () => {
    await using database = await postgres.open()
    await using served = await serve(database)
    await served.records.pet.createMany([1, 2, 3].map((number) => ({ name: `pet ${number}` })))
    await database.execute('begin; lock table pet in access exclusive mode')
    served.sent()
    const asked = served.ask(['/pet/1', '/pet/2', '/pet/3'])
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.equal(served.sent().length, 1)
    await database.execute('commit')
    assert.deepEqual(await asked, ['pet 1', 'pet 2', 'pet 3'])
  })

  test('are read again over a new connection where theirs is lost', options, async () => {
    await using database = await postgres.open()
    await using served = await serve(database)
    await served.records.pet.createMany([1, 2, 3].map((number) => ({ name: `pet ${number}` })))
    await served.ask(['/pet/1', '/pet/2'])
    await database.execute(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    assert.deepEqual(await served.ask(['/pet/1', '/pet/2', '/pet/9']), ['pet 1', 'pet 2', '404'])
  })
})
