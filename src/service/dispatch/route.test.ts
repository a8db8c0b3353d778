import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createService } from '../../index.ts'

const models = { note: { attributes: { text: { type: 'string' } } } } as const

test('a word of an address may begin with a digit, in any letter case', async () => {
  await using service = await createService({ database: 'memory:', models, sockets: false, prefix: '/2FA/V1' })
  await service.system.records.note.create({ text: 'a' })
  const statusOf = async (path: string) => (await service.fetch(new Request(`http://localhost${path}`))).status
  const cases: readonly [path: string, status: number][] = [
    ['/2fa/v1/note', 200],
    ['/2FA/V1/NOTE/1', 200],
    ['/2Fa/v1/note/Find/1', 200],
    ['/2fb/v1/note', 404],
    ['/3/v1/note', 404],
    ['/2fa/v1/note/2', 404],
  ]
  for (const [path, status] of cases) assert.equal(await statusOf(path), status, path)
})

test('the name of an association is matched in any letter case', async () => {
  await using service = await createService({
    database: 'memory:',
    models: {
      owner: { attributes: { name: { type: 'string' }, myPets: { collection: 'pet', via: 'owner' } } },
      pet: { attributes: { owner: { model: 'owner' } } },
    },
    sockets: false,
  })
  const { id } = await service.system.records.owner.create({ name: 'Ann' })
  await service.system.records.pet.create({ owner: id })
  for (const [path, status] of [
    ['/owner/1/myPets', 200],
    ['/owner/1/MYPETS', 200],
    ['/pet/1/Owner', 200],
    ['/owner/1/pets', 404],
  ] as const)
    assert.equal((await service.fetch(new Request(`http://localhost${path}`))).status, status, path)
})

test('a path without the prefix is answered with it', async () => {
  const detailOf = async (path: string, prefix?: string) => {
    await using service = await createService({
      database: 'memory:',
      models,
      sockets: false,
      ...(prefix !== undefined && { prefix }),
    })
    const response = await service.fetch(new Request(`http://localhost${path}`))
    return ((await response.json()) as { readonly detail: string }).detail
  }
  assert.equal(await detailOf('/note', '/api'), 'No route has this path: all routes begin with /api')
  assert.equal(await detailOf('/api/notes', '/api'), 'No route has this path')
  assert.equal(await detailOf('/notes'), 'No route has this path')
})

test('the members of an association have an address among the shortcuts too', async () => {
  const associated = {
    owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
    pet: { attributes: { owner: { model: 'owner' } } },
  } as const
  const statusOf = async (config: object, path: string) => {
    await using service = await createService({ database: 'memory:', models: associated, sockets: false, ...config })
    const { id } = await service.system.records.owner.create({ name: 'Ann' })
    await service.system.records.pet.create({ owner: id })
    const members = service.routes.filter(({ operation }) => operation === 'populate').map(({ path }) => path)
    assert.equal(new Set(members).size, members.length, 'each address is listed once')
    return (await service.fetch(new Request(`http://localhost${path}`))).status
  }
  for (const [config, path, status] of [
    [{}, '/owner/1/pets', 200],
    [{ rest: false }, '/owner/1/pets', 200],
    [{ rest: false }, '/pet/1/owner', 200],
    [{ rest: false }, '/owner/1', 404],
    [{ shortcuts: false }, '/owner/1/pets', 200],
    [{ restPrefix: '/v2' }, '/owner/1/pets', 200],
    [{ restPrefix: '/v2' }, '/v2/owner/1/pets', 200],
  ] as const)
    assert.equal(await statusOf(config, path), status, `${JSON.stringify(config)} ${path}`)
})
