import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { isEncoded, type Json } from '../../src/protocol/json.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* What a requester may not read is not revealed by its writes, is not changed by them, and has no address. */

const users: Readonly<Record<string, { readonly id: number; readonly role: string }>> = {
  ann: { id: 1, role: 'member' },
  root: { id: 9, role: 'admin' },
}

const open = (database: string) =>
  createService({
    database,
    auth: { identify: ({ headers }) => users[String(headers['x-user'])] ?? null },
    attributes: { createdAt: false, updatedAt: false },
    models: {
      person: {
        access: {
          read: ({ user }) => user?.role === 'admin' || { listed: true },
          create: true,
          update: ({ user }) => user !== null && { id: user.id },
          destroy: true,
        },
        attributes: {
          name: { type: 'string' },
          listed: { type: 'boolean', defaultsTo: true },
          tenant: { type: 'number' },
          code: { type: 'string' },
          badge: { type: 'string' },
          active: { type: 'boolean', defaultsTo: false },
          boss: { model: 'person', access: { read: 'admin', write: 'admin' } },
          reports: { collection: 'person', via: 'boss' },
          mentor: { model: 'person', access: { read: ({ user }) => ({ id: user?.id ?? null }) } },
          students: { collection: 'person', via: 'mentor' },
          sponsor: { model: 'person', access: { read: 'admin', write: true } },
          salary: { type: 'number', access: { read: 'admin', write: 'admin' } },
          teams: { collection: 'team', via: 'members' },
        },
        indexes: [
          { attributes: ['tenant', 'code'], unique: true },
          { attributes: ['badge'], unique: true, where: { active: true } },
        ],
      },
      team: {
        access: 'public',
        attributes: { name: { type: 'string' }, members: { collection: 'person', via: 'teams' } },
      },
      invoice: {
        access: { read: ({ user }) => user?.role === 'admin' || { open: true } },
        attributes: {
          open: { type: 'boolean', defaultsTo: false },
          payer: { model: 'person', onDestroy: 'restrict' },
          clerk: { model: 'person', onDestroy: 'restrict', access: { read: 'admin' } },
        },
      },
    },
  })
type TestService = Awaited<ReturnType<typeof open>>

async function fill({ system }: TestService): Promise<void> {
  const { person, team, invoice } = system.records
  for (const { id } of (await invoice.find()).data) await invoice.destroy(id)
  for (const { id } of (await team.find()).data) await team.destroy(id)
  for (const { id } of (await person.find()).data) await person.destroy(id)
  await person.createMany([
    { id: 1, name: 'Ann', tenant: 1, code: 'a' },
    { id: 2, name: 'Bob', tenant: 1, code: 'b', listed: false, badge: 'x', active: true },
    { id: 3, name: 'Cid', tenant: 2, code: 'b', badge: 'x' },
    { id: 4, name: 'Dee', badge: 'y', active: true },
    { id: 5, name: 'Eve' },
    { id: 6, name: 'Fay', mentor: 1 },
  ])
  await team.create({ id: 1, members: [1, 2] })
  await team.create({ id: 2, members: [1, 2, 3] })
  await invoice.create({ payer: 4 })
  await invoice.create({ payer: 5, open: true })
  await invoice.create({ clerk: 6, open: true })
}

async function ask(service: TestService, user: string, line: string, body?: Json) {
  const [method = '', path = ''] = line.split(' ')
  const response = await service.handle({ method, path, query: '', headers: { 'x-user': user }, body, site: 'none' })
  const { body: found } = response
  return { status: response.status, body: found !== undefined && isEncoded(found) ? JSON.parse(found.encoded) : found }
}

const conflict = 'This person conflicts with another record'
const inUse = 'Other records refer to this record'
const together = /^"tenant" and "code" of person must be unique together/
/** Of an item of a list. */
const togetherInList = /^Item 2 of the list: "tenant" and "code" of person must be unique together/

const refusals: readonly (readonly [line: string, body: Json | undefined, status: number, detail: string | RegExp])[] =
  [
    ['POST /person', { id: 2 }, 409, conflict],
    ['POST /person', { id: 3 }, 400, /^"id" of person must be unique/],
    ['POST /person', { tenant: 1, code: 'b' }, 409, conflict],
    ['POST /person', { tenant: 2, code: 'b' }, 400, together],
    ['POST /person', [{ name: 'Gus' }, { tenant: 1, code: 'b' }], 409, conflict],
    ['POST /person', [{ tenant: 7, code: 'q' }, { name: 'Gus' }, { tenant: 7, code: 'q' }], 400, togetherInList],
    [
      'POST /person',
      [
        { tenant: 7, code: 'q' },
        { tenant: 1, code: 'b' },
      ],
      409,
      conflict,
    ],
    ['POST /person', [{ id: 8 }, { id: 8 }], 400, /^Item 1 of the list: "id" of person must be unique/],
    ['PATCH /person/1', { tenant: 1, code: 'b' }, 409, conflict],
    ['PATCH /person/1', { code: 'b' }, 409, conflict],
    ['PATCH /person/1', { tenant: 2, code: 'b' }, 400, together],
    ['POST /person', { badge: 'x', active: true }, 409, conflict],
    ['POST /person', { badge: 'y', active: true }, 400, /^"badge" of person must be unique/],
    ['POST /person', [{ badge: 'x' }, { badge: 'x', active: true }], 409, conflict],
    [
      'POST /person',
      [
        { badge: 'z', active: true },
        { badge: 'z', active: true },
      ],
      400,
      /^Item 1 of the list: "badge" of person must be unique/,
    ],
    ['PATCH /person/1', { badge: 'x', active: true }, 409, conflict],
    ['DELETE /person/4', undefined, 409, inUse],
    ['DELETE /person/5', undefined, 409, '1 invoice record refers to this record as "payer"'],
    ['DELETE /person/6', undefined, 409, inUse],
  ]

const memberships: readonly (readonly [
  line: string,
  body: Json | undefined,
  status: number,
  left: readonly number[],
])[] = [
  ['DELETE /team/1/members/1', undefined, 200, [2]],
  ['DELETE /team/1/members/2', undefined, 200, [1, 2]],
  ['DELETE /team/2/members/3', undefined, 403, [1, 2, 3]],
  ['PUT /team/1/members', [], 200, [2]],
  ['PATCH /team/1', { members: [] }, 200, [2]],
  ['PUT /team/2/members', [1], 403, [1, 2, 3]],
  ['PATCH /team/2', { members: [1] }, 403, [1, 2, 3]],
  ['PUT /team/2/members', [1, 3], 403, [1, 2, 3]],
]

for (const database of databases) {
  describe(database.name, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: TestService
    before(async () => {
      opened = await database.open()
      service = await open(opened.url)
    })
    beforeEach(() => fill(service))
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    for (const [line, body, status, detail] of refusals) {
      test(`a refusal describes no record that may not be read: ${line} ${JSON.stringify(body ?? '')}`, async () => {
        const answer = await ask(service, 'ann', line, body)
        assert.equal(answer.status, status)
        if (typeof detail === 'string') assert.equal(answer.body.detail, detail)
        else assert.match(answer.body.detail, detail)
        const isConcealed = detail === conflict || detail === inUse
        assert.equal('invalidAttributes' in answer.body || 'attribute' in answer.body, !isConcealed)
      })
    }

    test('of several writes at once, the refusal of one describes no record that may not be read', async () => {
      const work = service.as({ id: 1, role: 'member' }).transaction(({ person, team }) => {
        return Promise.all([person.create({ tenant: 1, code: 'b' }), team.create({ name: 'new' })])
      })
      await assert.rejects(work, { code: 'E_CONFLICT', message: conflict })
    })

    test('a record that has come since a transaction began first is not described', {
      skip: database.name === 'postgres' ? false : 'its transactions are not repeated',
    }, async () => {
      const { person, team } = service.system.records
      const [begun, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const other = begun.promise.then(async () => {
        await team.update(1, { name: 'changed' })
        const waiting = person.create({ tenant: 8, code: 'q', listed: false })
        changed.resolve()
        return waiting
      })
      let attempts = 0
      const work = service.as({ id: 1, role: 'member' }).transaction(async (tx) => {
        if (++attempts > 1) await other
        await tx.team.findOne(1)
        await tx.person.create({ tenant: 8, code: 'q' })
        begun.resolve()
        await changed.promise
        await tx.team.update(1, { name: 'mine' })
      })
      await assert.rejects(work, { code: 'E_CONFLICT', message: conflict })
      assert.equal(attempts, 2)
    })

    for (const [line, body, status, left] of memberships) {
      test(`members are removed by the rules of both sides: ${line} ${JSON.stringify(body ?? '')}`, async () => {
        assert.equal((await ask(service, 'ann', line, body)).status, status)
        const id = Number(line.split('/')[2])
        const { data } = await service.system.records.team.related(id, 'members', { sort: 'id' })
        assert.deepEqual(
          data.map(({ id }) => id),
          left,
        )
      })
    }

    for (const [line, body] of [
      ['PUT /person/1/students', []],
      ['PATCH /person/1', { students: [] }],
      ['DELETE /person/1/students/6', undefined],
    ] as const) {
      test(`a reference that may not be read is not compared with: ${line}`, async () => {
        assert.equal((await ask(service, 'ann', line, body)).status, 200)
        assert.equal((await service.system.records.person.findOne(6))?.mentor, 1)
      })
    }

    for (const sponsor of [{ salary: 1 }, { salry: 1 }, { nothing: 1 }] as readonly Json[]) {
      test(`a reference that may not be read tells no names: ${JSON.stringify(sponsor)}`, async () => {
        const { status, body } = await ask(service, 'ann', 'PATCH /person/1', { sponsor })
        assert.deepEqual([status, body.detail], [400, 'sponsor must be an integer'])
        assert.equal((await ask(service, 'ann', 'PATCH /person/1', { sponsor: 3 })).status, 200)
      })
    }

    test('an association that may not be read is unknown in the process', async () => {
      const { person } = service.as(users.ann ?? null).records
      for (const name of ['boss', 'reports', 'nothing'] as readonly string[] as readonly ['reports'])
        for (const call of [
          () => person.related(1, name),
          () => person.add(1, name, 2),
          () => person.remove(1, name, 2),
          () => person.replace(1, name, []),
        ]) {
          const message = `person has no association "${name}"`
          await assert.rejects(call, { code: 'E_BAD_REQUEST', message })
        }
    })

    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      test(`an association that may not be read has no address: ${method}`, async () => {
        const unknown = await ask(service, 'ann', `${method} /person/1/nothing`)
        assert.equal(unknown.status, 404)
        assert.deepEqual(await ask(service, 'ann', `${method} /person/1/boss`), unknown)
        assert.deepEqual(await ask(service, 'ann', `${method} /person/1/reports`), unknown)
        assert.notEqual((await ask(service, 'root', `${method} /person/1/reports`)).status, 404)
      })
    }
  })
}
