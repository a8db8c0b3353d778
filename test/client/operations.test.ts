import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  ConflictError,
  createClient,
  ForbiddenError,
  InvalidError,
  NetworkError,
  NotFoundError,
  RequestError,
  UnauthenticatedError,
} from '../../src/client.ts'
import { createService, type HttpServer, ServiceError } from '../../src/index.ts'

const models = {
  owner: {
    attributes: {
      name: { type: 'string', required: true },
      email: { type: 'string', isEmail: true, unique: true },
      pets: { collection: 'pet', via: 'owner' },
    },
  },
  pet: {
    attributes: {
      name: { type: 'string', required: true },
      kind: { type: 'string', isIn: ['cat', 'dog'], defaultsTo: 'cat' },
      owner: { model: 'owner' },
      tags: { collection: 'tag', via: 'pets' },
    },
  },
  tag: {
    primaryKey: 'label',
    attributes: { label: { type: 'string', required: true }, pets: { collection: 'pet', via: 'tags' } },
  },
} as const

const open = () =>
  createService({ database: 'sqlite::memory:', models, attributes: { createdAt: false, updatedAt: false } })
const clientAt = (url: string) =>
  createClient<{ models: typeof models; attributes: { createdAt: false; updatedAt: false } }>({ url })

describe('the operations of the client', () => {
  let service: Awaited<ReturnType<typeof open>>
  let server: HttpServer
  let api: ReturnType<typeof clientAt>
  before(async () => {
    service = await open()
    server = await service.listen(0)
    api = clientAt(`${server.url}/`)
  })
  after(() => service.close())

  test('create, find, find one, count, update and destroy', async () => {
    const ann = await api.owner.create({ name: 'Ann', email: 'ann@example.com' })
    assert.deepEqual(ann, { id: 1, name: 'Ann', email: 'ann@example.com' })
    const rex = await api.pet.create({ name: 'Rex', kind: 'dog', owner: ann.id })
    assert.deepEqual(rex, { id: 1, name: 'Rex', kind: 'dog', owner: 1 })
    await api.pet.create({ name: 'Tom & Co', owner: ann.id })
    assert.deepEqual(await api.pet.findOne(1), rex)
    assert.deepEqual(await api.pet.findOne(1, { select: ['name'], populate: ['owner'] }), {
      id: 1,
      name: 'Rex',
      owner: ann,
    })
    assert.equal(await api.pet.findOne(99), undefined)
    assert.equal(await api.pet.count(), 2)
    assert.equal(await api.pet.count({ where: { owner: { name: { startsWith: 'A' } }, kind: 'dog' } }), 1)
    assert.deepEqual(
      await api.pet.find({ where: { name: 'Tom & Co' }, select: ['name', 'kind'], sort: 'name DESC', count: true }),
      {
        data: [{ id: 2, name: 'Tom & Co', kind: 'cat' }],
        next: null,
        total: 1,
      },
    )
    const deep = await api.owner.find({
      populate: { pets: { where: { kind: 'dog' }, select: ['name'], populate: ['tags'] } },
    })
    assert.deepEqual(deep.data[0]?.pets, [{ id: 1, name: 'Rex', tags: [] }])
    assert.deepEqual(await api.pet.update(2, { name: 'Tom' }), { id: 2, name: 'Tom', kind: 'cat', owner: 1 })
    assert.deepEqual(await api.pet.destroy(2), { id: 2, name: 'Tom', kind: 'cat', owner: 1 })
    assert.equal(await api.pet.count(), 1)
  })

  test('pages by cursor, one by one and as an iterator', async () => {
    for (const label of ['a', 'b', 'ü/ö?', 'd', 'e']) await api.tag.create({ label })
    const first = await api.tag.find({ limit: 2, sort: [{ label: 'DESC' }] })
    assert.deepEqual(
      first.data.map(({ label }) => label),
      ['ü/ö?', 'e'],
    )
    const second = await api.tag.find({ limit: 2, sort: [{ label: 'DESC' }], cursor: first.next ?? '' })
    assert.deepEqual(
      second.data.map(({ label }) => label),
      ['d', 'b'],
    )
    const all: string[] = []
    for await (const { label } of api.tag.all({ limit: 2, sort: { label: -1 } })) all.push(label)
    assert.deepEqual(all, ['ü/ö?', 'e', 'd', 'b', 'a'])
    assert.deepEqual(await api.tag.findOne('ü/ö?'), { label: 'ü/ö?' })
  })

  test('members of associations', async () => {
    const members = (await api.pet.add(1, 'tags', 'ü/ö?')).tags
    assert.deepEqual(members, [{ label: 'ü/ö?' }])
    assert.deepEqual((await api.pet.replace(1, 'tags', ['a', 'b'])).tags, [{ label: 'a' }, { label: 'b' }])
    assert.deepEqual((await api.pet.remove(1, 'tags', 'a')).tags, [{ label: 'b' }])
    assert.deepEqual(await api.pet.related(1, 'tags'), { data: [{ label: 'b' }], next: null })
    assert.deepEqual(await api.pet.related(1, 'owner', { select: ['name'] }), { id: 1, name: 'Ann' })
    const stray = await api.pet.create({ name: 'Stray' })
    assert.equal(await api.pet.related(stray.id, 'owner'), undefined)
    await assert.rejects(api.pet.related(99, 'tags'), NotFoundError)
    await assert.rejects(api.pet.related(99, 'owner'), NotFoundError)
  })

  test('refusals are errors of classes, with the code, the status and the violations', async () => {
    await assert.rejects(api.owner.create({ name: 'Bob', email: 'x' }), (error) => {
      assert.ok(error instanceof InvalidError && error instanceof RequestError)
      assert.deepEqual([error.name, error.code, error.status], ['E_INVALID_ATTRIBUTES', 'E_INVALID_ATTRIBUTES', 400])
      assert.deepEqual(
        error.invalidAttributes.email?.map(({ rule }) => rule),
        ['isEmail'],
      )
      assert.match(error.message, /email/)
      return true
    })
    await assert.rejects(api.pet.update(99, { name: 'No' }), NotFoundError)
    await assert.rejects(api.pet.destroy(99), { code: 'E_NO_SUCH_RECORD', status: 404 })
    // @ts-expect-error no such attribute
    await assert.rejects(api.pet.find({ where: { nme: 'x' } }), { code: 'E_BAD_CRITERIA' })
    const { headers } = await fetch(`${server.url}/pet/1`)
    await api.pet.update(1, { name: 'Max' })
    const stale = { headers: { 'If-Match': headers.get('ETag') as string } }
    await assert.rejects(api.pet.update(1, { name: 'Kim' }, stale), ConflictError)
  })

  test('a signal aborts a request, also one that was aborted before', async () => {
    await assert.rejects(api.pet.find({}, { signal: AbortSignal.abort(new Error('stop')) }), /stop/)
    const controller = new AbortController()
    const waiting = api.pet.find({}, { signal: controller.signal })
    controller.abort(new Error('enough'))
    await assert.rejects(waiting, /enough/)
  })

  test('without an answer, or with one of another program, there is a NetworkError', async () => {
    await assert.rejects(clientAt('http://127.0.0.1:9').pet.find(), NetworkError)
    const withoutUrl = createClient<{ models: typeof models }>()
    await assert.rejects(withoutUrl.pet.find(), {
      name: 'E_NETWORK',
      message: 'No answer was received: TypeError: Failed to parse URL from /pet?populate=false',
    })
    const page = async () => new Response('<html>sign in</html>', { status: 200 })
    await assert.rejects(createClient({ url: server.url, fetch: page }).pet?.find() as Promise<unknown>, NetworkError)
    const proxy = async () => new Response('<html>bad gateway</html>', { status: 502 })
    await assert.rejects(createClient({ url: server.url, fetch: proxy }).pet?.find() as Promise<unknown>, {
      status: 502,
      code: 'E_UNKNOWN',
    })
  })

  test('a client can be the result of an async function', async () => assert.equal(await Promise.resolve(api), api))
})

describe('the identity of the client', () => {
  const identified = (identify: (request: { headers: Record<string, unknown> }) => { id: string } | null) =>
    createService({
      database: 'memory:',
      models: {
        pet: {
          attributes: { name: { type: 'string' } },
          access: { read: ({ user }: { user: unknown }) => user !== null, destroy: false },
        },
      },
      auth: { identify: identify as never },
    })

  test('a token is sent, renewed once after a 401, and may be a promise', async () => {
    const seen: unknown[] = []
    await using service = await identified(({ headers }) => {
      seen.push(headers.authorization)
      if (headers.authorization !== 'Bearer second')
        throw new ServiceError('E_UNAUTHENTICATED', 'The token has expired')
      return { id: 'ann' }
    })
    const { url } = await service.listen(0)
    const asked: boolean[] = []
    const api = createClient({
      url,
      token: async (renew) => {
        asked.push(renew)
        return renew ? 'second' : 'first'
      },
    })
    assert.deepEqual(await api.pet?.find(), { data: [], next: null })
    assert.deepEqual(asked, [false, true])
    assert.deepEqual(seen, ['Bearer first', 'Bearer second'])
    await assert.rejects(createClient({ url, token: 'third' }).pet?.find() as Promise<unknown>, UnauthenticatedError)
    await assert.rejects(createClient({ url, token: () => 'third' }).pet?.find() as Promise<unknown>, {
      code: 'E_UNAUTHENTICATED',
    })
    await assert.rejects(
      createClient({ url, token: () => 'second' }).pet?.destroy(1) as Promise<unknown>,
      ForbiddenError,
    )
  })

  test('without a token the request is anonymous: null, as a storage returns, is none', async () => {
    const seen: unknown[] = []
    await using service = await identified(({ headers }) => {
      seen.push(headers.authorization)
      return { id: 'ann' }
    })
    const { url } = await service.listen(0)
    for (const token of [undefined, null, '', () => undefined, () => null, async () => null])
      await createClient({ url, token }).pet?.find()
    assert.deepEqual([...new Set(seen)], [undefined])
  })

  test('headers of the client and of a call are sent', async () => {
    const seen: unknown[] = []
    await using service = await identified(({ headers }) => {
      seen.push([headers['x-tenant'], headers['x-trace']])
      return { id: 'ann' }
    })
    const { url } = await service.listen(0)
    await createClient({ url, headers: { 'X-Tenant': 'a' } }).pet?.find({}, { headers: { 'X-Trace': 'b' } })
    assert.deepEqual(seen, [['a', 'b']])
  })
})
