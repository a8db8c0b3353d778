import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { inspect } from 'node:util'
import type { Records } from '../../model/inference/records-of.ts'
import type { ErrorCode } from '../../protocol/errors.ts'
import type { Json } from '../../protocol/json.ts'
import { type OpenService, openService } from '../open-service.ts'
import type { LooseRecords } from './records.ts'

const models = {
  owner: {
    attributes: {
      createdAt: false,
      updatedAt: false,
      name: { type: 'string', required: true },
      city: { type: 'string' },
      secret: { type: 'string', hidden: true },
      pets: { collection: 'pet', via: 'owner' },
    },
  },
  pet: {
    attributes: {
      createdAt: false,
      updatedAt: false,
      name: { type: 'string', required: true },
      isWild: { type: 'boolean', defaultsTo: false },
      owner: { model: 'owner' },
      tags: { collection: 'tag', via: 'pets' },
    },
  },
  tag: {
    primaryKey: 'label',
    attributes: {
      createdAt: false,
      updatedAt: false,
      label: { type: 'string', required: true },
      pets: { collection: 'pet', via: 'tags' },
    },
  },
} as const

const ann = { id: 1, name: 'Ann', city: 'Oslo' }
const bob = { id: 2, name: 'Bob', city: 'Rome' }
const rex = { id: 1, name: 'Rex', isWild: false, owner: 1 }
const tom = { id: 2, name: 'Tom', isWild: true, owner: 1 }
const ivy = { id: 3, name: 'Ivy', isWild: false, owner: 2 }
const joe = { id: 4, name: 'Joe', isWild: true, owner: null }
const [old, shy] = [{ label: 'old' }, { label: 'shy' }]

for (const database of ['memory:', 'sqlite::memory:']) {
  describe(database, () => {
    let service: OpenService
    let owner: Records<typeof models>['owner']
    let pet: Records<typeof models>['pet']
    let tag: Records<typeof models>['tag']

    before(async () => {
      service = await openService({ models, database })
      const records = Object.fromEntries(service.records) as unknown as Records<typeof models>
      owner = records.owner
      pet = records.pet
      tag = records.tag
      for (const values of [ann, bob]) await owner.create(values)
      for (const values of [rex, tom, ivy, joe]) await pet.create(values)
      await tag.create({ ...old, pets: [1, 3] })
      await tag.create(shy)
    })
    after(() => service[Symbol.asyncDispose]())

    /** Does something, and puts the members back to what they are for every test. */
    async function meanwhile<T>(work: () => Promise<T>): Promise<T> {
      try {
        return await work()
      } finally {
        await owner.replace(1, 'pets', [1, 2])
        await owner.replace(2, 'pets', [3])
        await pet.replace(1, 'tags', ['old'])
        await pet.replace(3, 'tags', ['old'])
      }
    }

    test('nothing is embedded unless it is asked for', async () => {
      assert.deepEqual(await pet.find(), { data: [rex, tom, ivy, joe], next: null })
      assert.deepEqual(await pet.findOne(1), rex)
      assert.equal(await pet.findOne(99), undefined)
      assert.deepEqual(await owner.update(1, {}), ann)
    })

    test('associations are embedded by name, a to-one in place of its key', async () => {
      const { data } = await pet.find({ populate: ['owner', 'tags'], where: { id: [1, 4] } })
      assert.deepEqual(data, [
        { ...rex, owner: ann, tags: [old] },
        { ...joe, owner: null, tags: [] },
      ])
      assert.deepEqual(await owner.findOne(2, { populate: ['pets'] }), { ...bob, pets: [ivy] })
    })

    test('what is embedded is chosen, sorted and cut, to any depth', async () => {
      const found = await owner.find({
        select: ['name'],
        populate: {
          pets: {
            where: { name: { '!=': 'Ivy' } },
            sort: 'name DESC',
            limit: 1,
            select: ['name'],
            populate: { owner: { select: ['city'], populate: { pets: { skip: 1 } } } },
          },
        },
      })
      assert.deepEqual(found.data, [
        { id: 1, name: 'Ann', pets: [{ id: 2, name: 'Tom', owner: { id: 1, city: 'Oslo', pets: [tom] } }] },
        { id: 2, name: 'Bob', pets: [] },
      ])
    })

    test('a to-one that does not fulfil its condition is null', async () => {
      const { data } = await pet.find({ select: ['name'], populate: { owner: { where: { city: 'Oslo' } } }, limit: 3 })
      assert.deepEqual(
        data.map((found) => found.owner),
        [ann, ann, null],
      )
    })

    test('conditions and orders reach through associations', async () => {
      const named = async (options: Parameters<typeof pet.find>[0]) =>
        (await pet.find({ ...options })).data.map(({ name }) => name)
      assert.deepEqual(await named({ where: { owner: { city: 'Oslo' } } }), ['Rex', 'Tom'])
      assert.deepEqual(await named({ where: { not: { owner: { city: 'Oslo' } } } }), ['Ivy', 'Joe'])
      assert.deepEqual(await named({ where: { tags: { label: 'old' } } }), ['Rex', 'Ivy'])
      assert.deepEqual(await named({ where: { owner: { pets: { isWild: true } } } }), ['Rex', 'Tom'])
      assert.deepEqual(await named({ sort: ['owner.name DESC', 'name'] }), ['Ivy', 'Rex', 'Tom', 'Joe'])
      assert.deepEqual(await named({ sort: ['isWild DESC', 'id'] }), ['Tom', 'Joe', 'Rex', 'Ivy'])
      assert.equal(await owner.count({ where: { pets: { tags: { label: 'old' } } } }), 2)
    })

    test('a list is read page after page, and counted', async () => {
      const names: string[] = []
      for (let cursor: string | undefined; ; ) {
        const { data, next, total } = await pet.find({ sort: 'owner.name', limit: 3, cursor, count: true })
        assert.equal(total, 4)
        names.push(...data.map(({ name }) => name))
        if (next === null) break
        cursor = next
      }
      assert.deepEqual(names, ['Joe', 'Rex', 'Tom', 'Ivy'])
    })

    test('members are given as keys', async () => {
      await meanwhile(async () => {
        const { id } = await owner.create({ name: 'Cy', pets: [3, 4] })
        assert.deepEqual(
          (await owner.findOne(id, { populate: ['pets'] }))?.pets.map(({ name }) => name),
          ['Ivy', 'Joe'],
        )
        await owner.update(id, { pets: [4] })
        assert.equal((await pet.findOne(3))?.owner, null)
        await owner.destroy(id)
        assert.deepEqual(await pet.findOne(4), joe)
      })
    })

    test('add, remove and replace answer the record with its members', async () => {
      await meanwhile(async () => {
        assert.deepEqual(await owner.add(1, 'pets', 4), { ...ann, pets: [rex, tom, { ...joe, owner: 1 }] })
        assert.deepEqual(await owner.add(1, 'pets', 3), {
          ...ann,
          pets: [rex, tom, { ...ivy, owner: 1 }, { ...joe, owner: 1 }],
        })
        assert.deepEqual(await owner.findOne(2, { populate: ['pets'] }), { ...bob, pets: [] })
        assert.deepEqual(await owner.remove(1, 'pets', 1), {
          ...ann,
          pets: [tom, { ...ivy, owner: 1 }, { ...joe, owner: 1 }],
        })
        assert.deepEqual(await owner.replace(1, 'pets', [1, 2]), { ...ann, pets: [rex, tom] })
        assert.deepEqual(await pet.add(1, 'tags', 'shy'), { ...rex, tags: [old, shy] })
        assert.deepEqual(await pet.remove(1, 'tags', 'shy'), { ...rex, tags: [old] })
        assert.deepEqual(await pet.remove(1, 'tags', 'shy'), { ...rex, tags: [old] })
        assert.deepEqual(await pet.replace(1, 'tags', []), { ...rex, tags: [] })
      })
    })

    test('related answers a page of a to-many', async () => {
      assert.deepEqual(await owner.related(1, 'pets'), { data: [rex, tom], next: null })
      assert.deepEqual(await tag.related('old', 'pets'), { data: [rex, ivy], next: null })
      assert.deepEqual(await tag.related('shy', 'pets'), { data: [], next: null })
      const some = await tag.related('old', 'pets', {
        where: { owner: { city: 'Rome' } },
        select: ['name'],
        populate: { owner: { select: ['name'] } },
        count: true,
      })
      assert.deepEqual(some, {
        data: [{ id: 3, name: 'Ivy', owner: { id: 2, name: 'Bob' } }],
        next: null,
        total: 1,
      })
      const { next } = await owner.related(1, 'pets', { limit: 1 })
      assert.deepEqual((await owner.related(1, 'pets', { cursor: next ?? '' })).data, [tom])
    })

    test('related answers the record of a to-one, or undefined', async () => {
      assert.deepEqual(await pet.related(1, 'owner'), ann)
      assert.deepEqual(await pet.related(3, 'owner', { select: ['name'], populate: ['pets'] }), {
        id: 2,
        name: 'Bob',
        pets: [ivy],
      })
      assert.equal(await pet.related(4, 'owner'), undefined)
    })

    test('a key that no record can have is one of no record', async () => {
      const { pet } = Object.fromEntries(service.records) as unknown as Loose
      for (const id of ['x', '', '-', 1.5, -0.5, Number.NaN, 2 ** 53, '9007199254740993']) {
        assert.equal(await pet.findOne(id), undefined, `findOne(${inspect(id)})`)
        assert.equal(await pet.related(id, 'owner'), undefined, `related(${inspect(id)})`)
      }
    })

    const refusals: readonly (readonly [string, ErrorCode, (records: Loose) => Promise<unknown>])[] = [
      ['an option that does not exist', 'E_BAD_CRITERIA', ({ pet }) => pet.find({ were: {} })],
      ['an option of lists, for one record', 'E_BAD_CRITERIA', ({ pet }) => pet.findOne(1, { where: {} })],
      ['an option of lists, for a to-one', 'E_BAD_CRITERIA', ({ pet }) => pet.related(1, 'owner', { where: {} })],
      [
        'an option that does not exist, of a to-many',
        'E_BAD_CRITERIA',
        ({ owner }) => owner.related(1, 'pets', { name: 'Rex' }),
      ],
      ['an option of lists, for a count', 'E_BAD_CRITERIA', ({ pet }) => pet.count({ limit: 1 })],
      ['null for a condition', 'E_BAD_CRITERIA', ({ pet }) => pet.find({ where: null })],
      [
        'a cursor of another order',
        'E_BAD_CRITERIA',
        async ({ pet }) => pet.find({ sort: 'name', cursor: (await pet.find({ limit: 1 })).next }),
      ],
      ['an association that does not exist', 'E_BAD_REQUEST', ({ owner }) => owner.related(1, 'pts')],
      ['no association of that name to add to', 'E_BAD_REQUEST', ({ owner }) => owner.add(1, 'name', 1)],
      ['a to-one has no members', 'E_NO_SUCH_ROUTE', ({ pet }) => pet.add(1, 'owner', 1)],
      ['a to-one has no members to replace', 'E_NO_SUCH_ROUTE', ({ pet }) => pet.replace(1, 'owner', [1])],
      ['a key that no record can have', 'E_NO_SUCH_RECORD', ({ owner }) => owner.update('x', {})],
      ['a key that no record can have, to destroy', 'E_NO_SUCH_RECORD', ({ owner }) => owner.destroy(1.5)],
      ['a key that no record can have, of members', 'E_NO_SUCH_RECORD', ({ owner }) => owner.related('x', 'pets')],
      ['a key that no record can have, to add to', 'E_NO_SUCH_RECORD', ({ owner }) => owner.add('x', 'pets', 1)],
      ['a member’s key that no record can have', 'E_NO_SUCH_RECORD', ({ owner }) => owner.add(1, 'pets', 'x')],
      ['a record instead of a key', 'E_BAD_REQUEST', ({ owner }) => owner.add(1, 'pets', { id: 1 })],
      [
        'a condition that selects every record',
        'E_BAD_REQUEST',
        ({ owner }) => owner.updateMany({ where: { or: [{}] } }, { name: 'No' }),
      ],
      [
        'no key, and one in the values',
        'E_BAD_REQUEST',
        ({ pet }) => pet.update(undefined as unknown as Json, { id: 1, name: 'No' }),
      ],
      ['a member that is not there', 'E_NO_SUCH_RECORD', ({ owner }) => owner.add(1, 'pets', 99)],
      ['members that are not there', 'E_INVALID_ATTRIBUTES', ({ owner }) => owner.replace(1, 'pets', [1, 99])],
      ['a record that is not there, of its members', 'E_NO_SUCH_RECORD', ({ owner }) => owner.related(99, 'pets')],
      ['a record that is not there, to add to', 'E_NO_SUCH_RECORD', ({ owner }) => owner.add(99, 'pets', 1)],
    ]
    const loose = () => Object.fromEntries(service.records) as unknown as Loose
    const messages: readonly (readonly [message: string, (records: Loose) => Promise<unknown>])[] = [
      ['The id of owner is an integer', ({ owner }) => owner.update(true, {})],
      [
        '`findOne` takes an id; for a condition use find({ where, limit: 1 })',
        ({ owner }) => owner.findOne({ name: 'Ann' }),
      ],
      ['There is no option "name" here: conditions are given in `where`', ({ owner }) => owner.find({ name: 'Ann' })],
      [
        'There is no option "pets" here: conditions are given in `where`',
        ({ owner }) => owner.count({ pets: { name: 'Rex' } }),
      ],
      [
        'There is no option "isWild" here: conditions are given in `where`',
        ({ owner }) => owner.related(1, 'pets', { isWild: true }),
      ],
      ['There is no option "nick" here', ({ owner }) => owner.find({ nick: 'A' })],
      ['There is no option "secret" here', ({ owner }) => owner.find({ secret: 'A' })],
      ['There is no option "name" here', ({ owner }) => owner.findOne(1, { name: 'Ann' })],
    ]
    const promised = Promise.resolve({ name: 'Ann' })
    for (const wrong of [null, 5, 'Ann', [], new Map(), new FormData(), promised] as never[]) {
      for (const name of ['create', 'update', 'upsert', 'updateMany'] as const) {
        test(`refused: values that are no object, by ${name}: ${inspect(wrong)}`, async () => {
          const { owner } = loose()
          const before = await owner.find()
          const asked = {
            create: () => owner.create(wrong),
            update: () => owner.update(1, wrong),
            upsert: () => owner.upsert('id', wrong),
            updateMany: () => owner.updateMany({ where: {} }, wrong),
          }
          const message = `\`${name}\` takes an object of attributes`
          await assert.rejects(asked[name](), { code: 'E_BAD_BODY', message })
          assert.deepEqual(await owner.find(), before)
        })
      }
      test(`refused: options that are no object: ${inspect(wrong)}`, async () => {
        const { owner } = loose()
        const refused = { code: 'E_BAD_CRITERIA', message: 'The options must be an object' }
        await assert.rejects(owner.find(wrong), refused)
        await assert.rejects(owner.findOne(1, wrong), refused)
        await assert.rejects(owner.count(wrong), refused)
        await assert.rejects(owner.related(1, 'pets', wrong), refused)
      })
    }

    test('refused: `createMany` without a list', async () => {
      const { owner } = loose()
      for (const wrong of [null, undefined, {}, { length: 1 }] as never[])
        await assert.rejects(owner.createMany(wrong), { code: 'E_BAD_BODY', message: /takes a list/ })
      const message = 'Item 1 of the list is not an object of attributes'
      const before = await owner.find()
      for (const wrong of [null, new Map(), Promise.resolve({ name: 'Tom' })] as never[])
        await assert.rejects(owner.createMany([{ name: 'Ann' }, wrong]), { code: 'E_BAD_BODY', message })
      // biome-ignore lint/suspicious/noSparseArray: a program may build one
      await assert.rejects(owner.createMany([{ name: 'Ann' }, , {}] as never), { code: 'E_BAD_BODY', message })
      assert.deepEqual(await owner.find(), before)
    })

    test('refused: a write to many without options', async () => {
      const { owner } = loose()
      for (const missing of [null, undefined] as never[])
        await assert.rejects(owner.destroyMany(missing), { code: 'E_BAD_REQUEST', message: /"where" says which/ })
    })

    for (const [message, ask] of messages) {
      test(`refused: ${message}`, async () => {
        await assert.rejects(ask(loose()), { message })
      })
    }

    for (const [name, code, ask] of refusals) {
      test(`refused: ${name}`, async () => {
        await assert.rejects(ask(loose()), { code })
        assert.deepEqual(await owner.findOne(1, { populate: ['pets'] }), { ...ann, pets: [rex, tom] })
      })
    }
  })
}

/** As a program without types sees them. */
type Loose = Readonly<Record<keyof typeof models, LooseRecords>>
