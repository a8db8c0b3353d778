import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* A hidden foreign key: its to-one association is unknown to requests, and rules lead through it. */

const open = (database: string) =>
  createService({
    database,
    auth: { identify: () => ({ name: 'Ann' }) },
    attributes: { createdAt: false, updatedAt: false },
    models: {
      owner: {
        access: { read: true, create: true },
        attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } },
      },
      pet: {
        access: {
          read: ({ user }) => user !== null && { owner: { name: (user as { name: string }).name } },
          create: true,
        },
        attributes: { name: { type: 'string' }, owner: { model: 'owner', hidden: true, access: { write: true } } },
      },
    },
  })
type TestService = Awaited<ReturnType<typeof open>>

interface Answer {
  readonly status: number
  readonly detail: string
}

for (const database of databases) {
  describe(`a hidden foreign key on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: TestService
    let url: string

    before(async () => {
      opened = await database.open()
      service = await open(opened.url)
      url = (await service.listen(0)).url
      const { owner, pet } = service.system.records
      await owner.create({ name: 'Ann' })
      await owner.create({ name: 'Bob' })
      await pet.create({ name: 'Rex', owner: 1 })
      await pet.create({ name: 'Tom', owner: 2 })
    })
    after(async () => {
      await service?.close()
      await opened?.[Symbol.asyncDispose]()
    })

    const get = async (path: string): Promise<Answer> => (await fetch(url + path)).json() as Promise<Answer>

    test('no answer contains its association, and a rule leads through it', async () => {
      assert.deepEqual(await get('/pet'), [{ id: 1, name: 'Rex' }])
      assert.deepEqual(await get('/pet/1'), { id: 1, name: 'Rex' })
      assert.deepEqual(await get('/owner'), [
        { id: 1, name: 'Ann', pets: [{ id: 1, name: 'Rex' }] },
        { id: 2, name: 'Bob', pets: [] },
      ])
    })

    test('a to-many association via it is served', async () => {
      assert.deepEqual(await get('/owner/1/pets'), [{ id: 1, name: 'Rex' }])
      assert.deepEqual(await get('/owner?populate=false&where={"pets":{"name":"Rex"}}'), [{ id: 1, name: 'Ann' }])
    })

    test('a request that names its association is refused like one that names none', async () => {
      const paths = (name: string) => [
        `/pet?populate=${name}`,
        `/pet?omit=${name}`,
        `/pet?sort=${name}.name`,
        `/pet?where={"${name}":{"name":"Ann"}}`,
        `/owner?where={"pets":{"${name}":{"name":"Ann"}}}`,
        `/pet/1/${name}`,
        `/pet/1/${name}/1`,
      ]
      const unknown = paths('nix')
      for (const [index, path] of paths('owner').entries()) {
        const answer = await get(path)
        assert.ok([400, 404].includes(answer.status), path)
        const expected = JSON.stringify(await get(unknown[index] as string))
        assert.equal(JSON.stringify(answer), expected.replaceAll('nix', 'owner'), path)
      }
    })

    test('no error suggests it', async () => {
      const body = JSON.stringify({ ownr: 1 })
      const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } }
      for (const answer of [
        await get('/pet?ownr=1'),
        await get('/pet?populate=ownr'),
        (await (await fetch(`${url}/pet`, init)).json()) as Answer,
      ]) {
        assert.equal(answer.status, 400)
        assert.doesNotMatch(answer.detail, /did you mean/)
      }
    })

    test('a live query embeds the members that a change of the key adds and removes', async () => {
      const { owner, pet } = service.system.records
      const { id } = await pet.create({ name: 'Kim', owner: 1 })
      await using rows = await owner.liveQuery({ where: { id: [1, 2] }, populate: { pets: { where: { id } } } })
      const updates = rows[Symbol.asyncIterator]()
      const owners = async () => (await updates.next()).value?.rows.map(({ pets }) => pets.length)
      assert.deepEqual(await owners(), [1, 0])
      await pet.update(id, { owner: 2 })
      assert.deepEqual(await owners(), [0, 1])
      await pet.destroy(id)
    })

    test('a new record may be written in its place', async () => {
      const records = service.system.records
      const { id } = await records.pet.create({ name: 'Max', owner: { name: 'Eve' } } as never)
      const { data } = await records.owner.find({ where: { pets: { id } } })
      assert.deepEqual(
        data.map(({ name }) => name),
        ['Eve'],
      )
    })
  })
}
