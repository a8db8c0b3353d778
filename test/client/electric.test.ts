import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { FetchError, Shape, ShapeStream } from '@electric-sql/client'
import { createService, ServiceError } from '../../src/index.ts'
import { eventually } from './eventually.ts'

/*
 * Electric's own client, as it is published, over a service.
 */

const folder = mkdtempSync(join(tmpdir(), 'keelson-electric-'))
after(() => rmSync(folder, { recursive: true }))

const models = {
  pet: {
    access: {
      read: ({ user }: { user: unknown }) => (user ? true : { isPublic: true }),
      create: true,
      update: true,
      destroy: true,
    },
    attributes: {
      name: { type: 'string', required: true },
      kind: { type: 'string' },
      tags: { type: 'json' },
      isPublic: { type: 'boolean', defaultsTo: false },
      secret: { type: 'string', access: { read: false } },
      owner: { model: 'owner' },
    },
  },
  owner: { access: 'public', attributes: { name: { type: 'string' } } },
} as const

/** The client schedules work in a minute, for which this process need not wait. */
const schedule = globalThis.setTimeout
globalThis.setTimeout = Object.assign((...args: Parameters<typeof schedule>) => {
  const timer = schedule(...args)
  return (args[1] ?? 0) > 10_000 ? timer.unref() : timer
}, schedule)

let files = 0
/** Ends the streams of a case, also when it fails: they would go on forever. */
class Ending extends AbortController {
  [Symbol.dispose](): void {
    this.abort()
  }
}
const open = (database = `sqlite:${join(folder, `${++files}.db`)}`, limits = {}) =>
  createService({
    database,
    models: models as never,
    shapes: '/v1/shape',
    limits,
    auth: {
      identify: ({ headers }) => {
        if (headers.authorization === 'Bearer wrong') throw new ServiceError('E_UNAUTHENTICATED', 'No such token')
        return headers.authorization ? { id: 'ann' } : null
      },
    },
  })
type Pet = { id: number; name: string; kind: string | null; tags: unknown }
interface Pets {
  create(values: object): Promise<{ id: number }>
  update(id: number, values: object): Promise<unknown>
  destroy(id: number): Promise<unknown>
}

const user = { headers: { Authorization: 'Bearer ann' } }

describe('the client of Electric', { timeout: 90_000 }, () => {
  for (const liveSse of [false, true]) {
    const way = liveSse ? 'as a stream' : 'by long polling'

    test(`has the records of a shape and follows their changes, ${way}`, async () => {
      await using service = await open(undefined, { maxLimit: 2, defaultLimit: 2 })
      const { url } = await service.listen(0)
      const pets = service.system.records.pet as unknown as Pets
      for (const [name, kind] of [
        ['Rex', 'dog'],
        ['Tom', 'cat'],
        ['Balu', 'dog'],
        ['Kim', 'dog'],
      ])
        await pets.create({ name, kind, tags: { a: [1] }, secret: 'x' })
      using end = new Ending()
      const stream = new ShapeStream({
        url: `${url}/v1/shape`,
        params: { table: 'pet', where: JSON.stringify({ kind: 'dog' }) },
        liveSse,
        signal: end.signal,
        ...user,
      })
      const shape = new Shape<Pet>(stream as never)
      const names = () => shape.currentRows.map(({ name }) => name).sort()
      // Three records are more than a page.
      assert.deepEqual((await shape.rows).map(({ name }) => name).sort(), ['Balu', 'Kim', 'Rex'])
      assert.deepEqual(shape.currentRows.find(({ name }) => name === 'Rex')?.tags, { a: [1] })
      assert.ok(shape.currentRows.every((row) => !('secret' in row)))

      const { id } = await pets.create({ name: 'Nala', kind: 'dog' })
      await eventually(() => assert.deepEqual(names(), ['Balu', 'Kim', 'Nala', 'Rex']))
      await pets.update(id, { name: 'Zoe' })
      await eventually(() => assert.deepEqual(names(), ['Balu', 'Kim', 'Rex', 'Zoe']))
      assert.equal(shape.currentRows.find(({ name }) => name === 'Zoe')?.kind, 'dog')
      await pets.update(id, { kind: 'cat' })
      await eventually(() => assert.deepEqual(names(), ['Balu', 'Kim', 'Rex']))
      await pets.update(2, { kind: 'dog' })
      await pets.destroy(1)
      await eventually(() => assert.deepEqual(names(), ['Balu', 'Kim', 'Tom']))
    })

    test(`continues after the service was restarted, ${way}`, async () => {
      const database = `sqlite:${join(folder, `${++files}.db`)}`
      const first = await open(database)
      const { url, port } = await first.listen(0)
      using end = new Ending()
      const messages: unknown[] = []
      const stream = new ShapeStream({
        url: `${url}/v1/shape`,
        params: { table: 'pet' },
        liveSse,
        signal: end.signal,
        backoffOptions: { initialDelay: 5, maxDelay: 20, multiplier: 1 },
        ...user,
      })
      const shape = new Shape<Pet>(stream as never)
      stream.subscribe((batch) => void messages.push(...batch))
      await shape.rows
      const pets = (service: typeof first) => service.system.records.pet as unknown as Pets
      await pets(first).create({ name: 'Rex' })
      await eventually(() => assert.equal(shape.currentRows.length, 1))
      await first.close()
      await using second = await open(database)
      await pets(second).create({ name: 'Tom' })
      await second.listen(port)
      await pets(second).create({ name: 'Kim' })
      await eventually(() => assert.equal(shape.currentRows.length, 3))
      const inserts = messages.filter((message) => JSON.stringify(message).includes('"insert"'))
      assert.equal(inserts.length, 3, 'nothing is sent twice')
    })

    test(`starts again when its position is gone, ${way}`, async () => {
      const database = `sqlite:${join(folder, `${++files}.db`)}`
      const first = await open(database)
      const { url, port } = await first.listen(0)
      await (first.system.records.pet as unknown as Pets).create({ name: 'Old' })
      using end = new Ending()
      const controls: unknown[] = []
      const stream = new ShapeStream({
        url: `${url}/v1/shape`,
        params: { table: 'pet' },
        liveSse,
        signal: end.signal,
        backoffOptions: { initialDelay: 5, maxDelay: 20, multiplier: 1 },
        ...user,
      })
      const shape = new Shape<Pet>(stream as never)
      stream.subscribe((batch) => {
        for (const { headers } of batch) if ('control' in headers) controls.push(headers.control)
      })
      await shape.rows
      await first.close()
      // Another database at the same address, as after a backup was restored: positions of the old one are unknown.
      await using second = await open()
      await (second.system.records.pet as unknown as Pets).create({ name: 'New' })
      await second.listen(port)
      await eventually(() =>
        assert.deepEqual(
          shape.currentRows.map(({ name }) => name),
          ['New'],
        ),
      )
      assert.equal(controls.filter((control) => control === 'must-refetch').length, 1)
    })
  }

  test('sees what the rules allow, and what becomes readable or ceases to be', async () => {
    await using service = await open()
    const { url } = await service.listen(0)
    const pets = service.system.records.pet as unknown as Pets
    const { id } = await pets.create({ name: 'Hidden' })
    await pets.create({ name: 'Public', isPublic: true })
    using end = new Ending()
    const shape = new Shape<Pet>(
      new ShapeStream({ url: `${url}/v1/shape`, params: { table: 'pet' }, signal: end.signal }) as never,
    )
    const names = () => shape.currentRows.map(({ name }) => name).sort()
    await shape.rows
    assert.deepEqual(names(), ['Public'])
    await pets.update(id, { isPublic: true })
    await eventually(() => assert.deepEqual(names(), ['Hidden', 'Public']))
    await pets.update(2, { isPublic: false })
    await eventually(() => assert.deepEqual(names(), ['Hidden']))
  })

  test('receives what is wrong', async () => {
    await using service = await open()
    const { url } = await service.listen(0)
    const refused = async (params: Record<string, string>, headers: Record<string, string> = user.headers) => {
      const errors: unknown[] = []
      const stream = new ShapeStream({
        url: `${url}/v1/shape`,
        params: params as never,
        headers,
        onError: (error) => void errors.push(error),
      })
      stream.subscribe(() => {})
      await eventually(() => assert.equal(errors.length, 1))
      const [error] = errors
      assert.ok(error instanceof FetchError)
      return [error.status, (JSON.parse(error.text ?? '{}') as { code?: string }).code]
    }
    assert.deepEqual(await refused({ table: 'dog' }), [400, 'E_BAD_REQUEST'])
    assert.deepEqual(await refused({ table: 'pet', where: "kind = 'dog'" }), [400, 'E_BAD_CRITERIA'])
    assert.deepEqual(await refused({ table: 'pet', where: '{"nme":"x"}' }), [400, 'E_BAD_CRITERIA'])
    assert.deepEqual(await refused({ table: 'pet', where: '{"secret":"x"}' }), [400, 'E_BAD_CRITERIA'])
    assert.deepEqual(await refused({ table: 'pet', where: '{"owner":{"name":"x"}}' }), [400, 'E_BAD_CRITERIA'])
    assert.deepEqual(await refused({ table: 'pet', columns: 'id,nme' }), [400, 'E_BAD_CRITERIA'])
    assert.deepEqual(await refused({ table: 'pet' }, { Authorization: 'Bearer wrong' }), [401, 'E_UNAUTHENTICATED'])
  })
})

test('answers are never kept by a cache, and a wrong offset or handle is refused', async () => {
  await using service = await open()
  const { url } = await service.listen(0)
  const ask = (query: string) => fetch(`${url}/v1/shape?table=pet${query}`)
  const first = await ask('&offset=-1')
  const { headers } = first
  assert.deepEqual(await first.json(), [{ headers: { control: 'up-to-date' } }])
  assert.equal(headers.get('electric-schema'), '{}')
  assert.ok(headers.has('electric-up-to-date') && headers.has('electric-cursor'))
  const [handle, offset] = [headers.get('electric-handle'), headers.get('electric-offset')]
  const other = await ask(`&offset=${offset}&handle=other`)
  assert.equal(other.status, 409)
  assert.match(String(other.headers.get('Cache-Control')), /no-store/)
  assert.notEqual(other.headers.get('electric-handle'), handle)
  assert.deepEqual(await other.json(), [{ headers: { control: 'must-refetch' } }])
  for (const query of [
    '&offset=x&handle=y',
    `&offset=${offset}`,
    '&offset=-1&subset__limit=3',
    '&offset=-1&log=changes_only',
  ])
    assert.equal((await ask(query)).status, 400, query)
  assert.equal((await fetch(`${url}/v1/shape?table=pet`, { method: 'POST' })).status, 405)
  assert.equal((await fetch(`${url}/V1/shape/`, { method: 'OPTIONS' })).headers.get('allow'), 'GET, OPTIONS')
  const columns = await ask('&offset=now&columns=id,name&replica=full')
  assert.equal(columns.status, 200)
})

test('the offset of an answer with many changes is as short as that of any other, and leads to the next ones', async () => {
  await using service = await open()
  const { pet } = service.system.records as never as { pet: Pets }
  const { url } = await service.listen(0)
  const ask = (query: string) => fetch(`${url}/v1/shape?table=pet${query}`, user)
  const placeOf = ({ headers }: Response) =>
    `&offset=${headers.get('electric-offset')}&handle=${headers.get('electric-handle')}`
  const first = await ask('&offset=-1')
  for (let id = 1; id <= 100; id++) await pet.create({ name: `a pet with the number ${id}` })
  const changes = await ask(`&live=true${placeOf(first)}`)
  assert.ok(placeOf(changes).length < placeOf(first).length + 50, placeOf(changes))
  const next = await ask(placeOf(changes))
  assert.equal(next.status, 200)
  const received = [...((await changes.json()) as { value?: Pet }[]), ...((await next.json()) as { value?: Pet }[])]
  assert.equal(received.filter(({ value }) => value !== undefined).length, 100)
})

test('a wrong shape is refused, also by one that starts now', async () => {
  await using service = await open()
  const { pet } = service.system.records as never as { pet: { create(values: object): Promise<unknown> } }
  await pet.create({ name: 'Rex', isPublic: true })
  const { url } = await service.listen(0)
  const ask = async (parameters: object) => {
    const response = await fetch(`${url}/v1/shape?${new URLSearchParams({ table: 'pet', ...parameters })}`)
    return [response.status, (await response.json()) as { value?: object }[]] as const
  }
  for (const offset of ['-1', 'now'])
    for (const wrong of [{ columns: 'nme' }, { columns: 'secret' }, { where: '{"nme":1}' }, { replica: 'all' }])
      assert.equal((await ask({ offset, ...wrong }))[0], 400, `${offset} ${JSON.stringify(wrong)}`)
  const [status, [first]] = await ask({ offset: '-1', columns: '*', replica: 'default' })
  assert.deepEqual([status, first], [200, (await ask({ offset: '-1' }))[1][0]])
})

test('a client that may read other values than before starts again', async () => {
  const read = { isEveryoneAllowed: false }
  await using service = await createService({
    database: `sqlite:${join(folder, `${++files}.db`)}`,
    models: {
      pet: {
        access: { read: () => (read.isEveryoneAllowed ? true : { isPublic: true }), create: true },
        attributes: { name: { type: 'string' }, isPublic: { type: 'boolean' } },
      },
    },
    shapes: '/v1/shape',
    auth: { identify: ({ headers }) => (headers.authorization ? { id: headers.authorization } : null) },
  })
  const { url } = await service.listen(0)
  const ask = (query: string, authorization = 'ann') =>
    fetch(`${url}/v1/shape?table=pet${query}`, { headers: { authorization } })
  const { headers } = await ask('&offset=-1')
  const held = `&offset=${headers.get('electric-offset')}&handle=${headers.get('electric-handle')}`
  assert.equal((await ask(held)).status, 200)
  assert.equal((await ask(held, 'bob')).status, 200, 'another user with the same rights')
  read.isEveryoneAllowed = true
  const refused = await ask(held)
  assert.equal(refused.status, 409)
  assert.notEqual(refused.headers.get('electric-handle')?.slice(0, 16), headers.get('electric-handle')?.slice(0, 16))
})
