import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import * as v from 'valibot'
import { ConflictError, createClient, InvalidError, NotFoundError } from '../../src/client.ts'
import { action, createService, defineConfig, file, type HttpServer, refuse, reply } from '../../src/index.ts'

const config = defineConfig({
  database: 'sqlite::memory:',
  models: {
    owner: {
      attributes: {
        name: { type: 'string', required: true },
        email: { type: 'string', unique: true },
        pets: { collection: 'pet', via: 'owner' },
      },
    },
    pet: {
      attributes: {
        name: { type: 'string', required: true },
        weight: { type: 'number' },
        owner: { model: 'owner' },
      },
      actions: {
        adopt: action({
          on: 'record',
          input: v.object({ owner: v.number() }),
          run: async ({ record, input, tx }) => {
            if (record.owner !== null) throw refuse(409, 'HAS_OWNER', 'It has an owner')
            await tx.pet.update(record.id, { owner: input.owner })
            return { adopted: record.name as string }
          },
        }),
        names: action({
          on: 'model',
          method: 'GET',
          input: v.object({ from: v.string() }),
          run: async ({ input }) => reply({ from: input.from }, { headers: { 'X-From': 'a' } }),
        }),
        csv: action({ on: 'model', run: async () => file(new TextEncoder().encode('a,b'), { type: 'text/csv' }) }),
      },
    },
  },
  actions: { ping: action({ on: 'service', run: async () => ({ pong: true }) }) },
})

describe('batches and actions', () => {
  let service: Awaited<ReturnType<typeof open>>
  let server: HttpServer
  const open = () => createService(config)
  const client = () => createClient<typeof config>({ url: server.url })
  before(async () => {
    service = await open()
    server = await service.listen(0)
  })
  after(() => service.close())

  test('a batch of a service with a prefix, and of one that is mounted under a path', async () => {
    const { models } = config
    await using prefixed = await createService({ database: 'sqlite::memory:', models, prefix: '/api' })
    await using mounted = await createService({ database: 'sqlite::memory:', models })
    const served = [
      createClient<typeof config>({ url: `${(await prefixed.listen(0)).url}/api` }),
      createClient<typeof config>({
        url: 'http://localhost/api',
        fetch: (url, init) => mounted.fetch(new Request(String(url).replace('/api', ''), init)),
      }),
    ]
    for (const api of served) {
      const [rex] = await api.batch((tx) => [tx.pet.create({ name: 'Rex' })])
      assert.equal((await api.pet.findOne(rex.id))?.name, 'Rex')
    }
  })

  test('a batch is one request, whose later operations use earlier results', async () => {
    const api = client()
    const [ann, rex, count] = await api.batch((tx) => {
      const ann = tx.owner.create({ name: 'Ann', email: 'a@example.com' })
      return [ann, tx.pet.create({ name: 'Rex', owner: tx.result(ann).id }), tx.pet.count()]
    })
    assert.deepEqual([ann.id, rex.name, rex.owner, count], [1, 'Rex', ann.id, 1])
    assert.deepEqual(await api.batch((tx) => [tx.pet.findOne(rex.id), tx.pet.find({ select: ['name'] })]), [
      rex,
      { data: [{ id: rex.id, name: 'Rex' }], next: null },
    ])
  })

  test('a batch of which one request fails rejects with its error, and nothing has happened', async () => {
    const api = client()
    const failing = api.batch((tx) => [
      tx.pet.create({ name: 'Tom' }),
      tx.owner.create({ name: 'Bob', email: 'a@example.com' }),
    ])
    await assert.rejects(
      failing,
      (error) => error instanceof InvalidError && error.invalidAttributes.email !== undefined,
    )
    assert.equal(await api.pet.count({ where: { name: 'Tom' } }), 0)
    await assert.rejects(
      api.batch((tx) => [tx.pet.update(99, { name: 'x' })]),
      NotFoundError,
    )
  })

  test('a batch waits for its answer also when it returns no results', async () => {
    const api = client()
    assert.deepEqual(await api.batch((tx) => [tx.pet.create({ name: 'Silent' })].slice(1)), [])
    assert.equal(await api.pet.count({ where: { name: 'Silent' } }), 1)
    await assert.rejects(
      api.batch((tx) => {
        tx.pet.update(99, { name: 'x' })
        return []
      }),
      NotFoundError,
    )
  })

  test('the id of an earlier result may stand for that of the record of an operation', async () => {
    const api = client()
    const [dan, pup] = await api.batch((tx) => {
      const [dan, pup] = [tx.owner.create({ name: 'Dan' }), tx.pet.create({ name: 'Pup' })]
      return [dan, pup, tx.owner.add(tx.result(dan).id, 'pets', tx.result(pup).id)]
    })
    assert.equal((await api.pet.findOne(pup.id))?.owner, dan.id)
  })

  test('many records', async () => {
    const api = client()
    const created = await api.pet.createMany([
      { name: 'a', weight: 1 },
      { name: 'b', weight: 1 },
    ])
    assert.deepEqual(
      created.map(({ name }) => name),
      ['a', 'b'],
    )
    assert.deepEqual(
      (await api.pet.updateMany({ where: { weight: 1 } }, { weight: 2 })).map(({ weight }) => weight),
      [2, 2],
    )
    assert.equal(await api.pet.updateMany({ where: { weight: 2 }, count: true }, { weight: 3 }), 2)
    assert.equal((await api.owner.upsert('email', { name: 'Anna', email: 'a@example.com' })).id, 1)
    assert.equal((await api.owner.upsert('email', { name: 'Cid', email: 'c@example.com' })).name, 'Cid')
    assert.equal((await api.pet.destroyMany({ where: { name: 'a' } })).length, 1)
    assert.equal(await api.pet.destroyMany({ where: { weight: 3 }, count: true }), 1)
  })

  test('actions of a record, a model and the service', async () => {
    const api = client()
    const stray = await api.pet.create({ name: 'Stray' })
    const { adopted } = await api.pet.adopt(stray.id, { owner: 1 })
    assert.equal(adopted, 'Stray')
    await assert.rejects(api.pet.adopt(stray.id, { owner: 1 }), (error) => {
      return error instanceof ConflictError && error.code === 'HAS_OWNER'
    })
    // @ts-expect-error the input has no such member
    await assert.rejects(api.pet.adopt(stray.id, { ownr: 1 }), InvalidError)
    assert.deepEqual(await api.pet.names({ from: 'x' }), { from: 'x' })
    const response = await api.pet.csv()
    assert.equal(await response.text(), 'a,b')
    assert.deepEqual(await api.actions.ping(), { pong: true })
  })
})
