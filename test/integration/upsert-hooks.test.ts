import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createService, ServiceError } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* The hook before a create runs once for an upsert that is refused, and not where nothing may be created. A record that comes meanwhile is updated. */

// biome-ignore lint/suspicious/noExplicitAny: the types of records are not the subject
type Any = any

let runs = 0
let beforeCreate: () => unknown = () => {}
const hooks = {
  before: {
    create: () => {
      runs++
      return beforeCreate()
    },
  },
}
const attributes = {
  email: { type: 'string', unique: true },
  login: { type: 'string', unique: true },
  owner: { type: 'number' },
} as const
const models: Any = {
  member: {
    attributes: { ...attributes, team: { model: 'team' } },
    access: { read: ({ user }: Any) => user !== null && { owner: user.id }, create: true, update: true },
    hooks,
  },
  badge: { attributes, access: { read: true, update: true, create: false }, hooks },
  note: {
    attributes: {
      title: { type: 'string', unique: true },
      text: { type: 'string', required: true },
      likes: { type: 'number' },
    },
    access: 'public',
  },
  team: { attributes: { name: { type: 'string', unique: true }, lead: { model: 'member' } }, access: 'public' },
}

const request = { method: 'POST', query: '', headers: {}, site: 'none' }

for (const database of databases) {
  describe(`the hook of an upsert on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Any
    before(async () => {
      opened = await database.open()
      service = await createService({ database: opened.url, models, auth: { identify: () => ({ id: 2 }) } })
      await service.system.records.member.create({ email: 'a', login: 'a', owner: 1 })
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })
    beforeEach(() => {
      runs = 0
      beforeCreate = () => {}
    })
    const refused = (code: string) => (error: unknown) => error instanceof ServiceError && error.code === code

    for (const [requester, recordsOf, code] of [
      ['the system', () => service.system.records, 'E_INVALID_ATTRIBUTES'],
      ['a requester who may not read the record', () => service.as({ id: 2 }).records, 'E_CONFLICT'],
    ] as const)
      for (const [form, more] of [
        ['alone', {}],
        ['with a new record', { team: { name: 'x' } }],
      ] as const)
        test(`another unique value that is taken refuses ${requester}, ${form}`, async () => {
          const values = { email: 'b', login: 'a', owner: 2, ...more }
          await assert.rejects(recordsOf().member.upsert('email', values), refused(code))
          assert.equal(runs, 1)
          assert.equal(await service.system.records.team.count(), 0)
        })

    test('the value of a record that the requester may not read refuses it', async () => {
      const values = { email: 'a', login: 'c', owner: 2 }
      await assert.rejects(service.as({ id: 2 }).records.member.upsert('email', values), refused('E_CONFLICT'))
      assert.equal(runs, 1)
    })

    test('none runs where nothing may be created', async () => {
      const { badge } = service.as({ id: 2 }).records
      await assert.rejects(badge.upsert('email', { email: 'a' }), refused('E_FORBIDDEN'))
      const inTransaction = service.as({ id: 2 }).transaction((tx: Any) => tx.badge.upsert('email', { email: 'a' }))
      await assert.rejects(inTransaction, refused('E_FORBIDDEN'))
      assert.equal(runs, 0)
    })

    for (const [form, headers] of [
      ['alone', {}],
      ['with If-Match', { 'if-match': '*' }],
    ] as const)
      test(`an earlier request of a batch gives a record the value, ${form}`, async () => {
        const { id } = await service.system.records.badge.create({ email: `old ${form}` })
        runs = 0
        const batch = [
          { method: 'PATCH', url: `/badge/${id}`, body: { email: `new ${form}` } },
          { method: 'POST', url: '/badge?upsert=email', body: { email: `new ${form}`, owner: 5 }, headers },
        ]
        const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(batch) }
        const answer = await service.fetch(new Request('http://localhost/batch', init))
        assert.equal(answer.status, 200)
        assert.equal((await service.system.records.badge.findOne(id)).owner, 5)
        assert.equal(runs, 0)
      })

    test('an earlier request of a batch creates the record, whose required values an update need not have', async () => {
      const batch = [
        { method: 'POST', url: '/note?upsert=title', body: { title: 'a', text: 'one' } },
        { method: 'POST', url: '/note?upsert=title', body: { title: 'a', likes: 1 } },
      ]
      const answer = await service.handle({ ...request, path: '/batch', body: batch })
      assert.equal(answer.status, 200)
      assert.deepEqual(
        (await service.system.records.note.find({ select: ['text', 'likes'] })).data.map(({ text, likes }: Any) => [
          text,
          likes,
        ]),
        [['one', 1]],
      )
      const refusal = await service.handle({
        ...request,
        path: '/batch',
        body: batch.map((item) => ({ ...item, body: { title: 'b' } })),
      })
      assert.equal(refusal.status, 400)
    })

    test('with If-Match it answers 412 where there is no record, and none runs', async () => {
      const headers = { 'if-match': '*', 'content-type': 'application/json', host: 'localhost' }
      for (const model of ['member', 'badge']) {
        const init = { method: 'POST', headers, body: '{"email":"none"}' }
        const answer = await service.fetch(new Request(`http://localhost/${model}?upsert=email`, init))
        assert.equal(answer.status, 412, model)
      }
      assert.equal(runs, 0)
    })

    for (const [form, more] of [
      ['alone', {}],
      ['with a new record', { team: { name: 'x' } }],
    ] as const)
      test(`a record that comes meanwhile is updated, ${form}`, async () => {
        const { member } = service.system.records
        const email = `new ${form}`
        beforeCreate = async () => {
          beforeCreate = () => {}
          await member.create({ email, login: email })
        }
        const { login, owner } = await member.upsert('email', { email, owner: 3, ...more })
        assert.deepEqual({ login, owner }, { login: email, owner: 3 })
        assert.equal(await member.count({ where: { email } }), 1)
      })

    test('a record that an earlier request of a batch creates is updated, with a new record', async () => {
      const upsert = (owner: number) => ({
        method: 'POST',
        url: '/team?upsert=name',
        body: { name: 'batch', lead: { email: `lead ${owner}`, login: `lead ${owner}`, owner } },
      })
      const body = [upsert(1), upsert(2)]
      const response = await service.handle({
        method: 'POST',
        path: '/batch',
        query: '',
        headers: {},
        body,
        site: 'none',
      })
      const answers = JSON.parse(response.body.encoded)
      assert.deepEqual(
        answers.map(({ status }: Any) => status),
        [201, 200],
      )
      const { data } = await service.system.records.team.find({ where: { name: 'batch' }, populate: ['lead'] })
      assert.deepEqual(
        data.map(({ lead }: Any) => lead.email),
        ['lead 2'],
      )
    })
  })
}
