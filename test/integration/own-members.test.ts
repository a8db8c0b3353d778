import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createService, type Service } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* A write of members may change the record that has them, which may be a member of itself: the answer is the record after that. */

const models = {
  user: {
    attributes: {
      createdAt: false,
      updatedAt: false,
      name: { type: 'string', unique: true },
      boss: { model: 'user' },
      reports: { collection: 'user', via: 'boss' },
    },
  },
} as const

const cases: readonly (readonly [line: string, body: unknown])[] = [
  ['POST /user', { id: 5, reports: [5] }],
  ['POST /user', { id: 5, reports: [{ name: 'new', reports: [5] }] }],
  ['POST /user', [{ id: 5 }, { id: 6, reports: [5] }]],
  ['POST /user?upsert=name', { id: 5, name: 'new', reports: [5] }],
  ['POST /user?upsert=name', { name: 'Ann', reports: [1] }],
  ['PATCH /user/1', { reports: [1] }],
  ['PATCH /user/1', { reports: [{ name: 'new', reports: [1] }] }],
  ['PATCH /user/2', { reports: [] }],
  ['POST /user/1/reports', { id: 1 }],
  ['PUT /user/2/reports', [1]],
]

for (const database of databases) {
  describe(`members of themselves on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Service<typeof models>
    before(async () => {
      opened = await database.open()
      service = await createService({ database: opened.url, models })
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })
    beforeEach(async () => {
      const { user } = service.system.records
      await user.destroyMany({ where: { id: { '!=': null } } })
      await user.createMany([
        { id: 1, name: 'Ann' },
        { id: 2, name: 'Bob' },
      ])
      await user.update(2, { boss: 2 })
    })

    for (const [line, body] of cases) {
      test(`${line} ${JSON.stringify(body)}`, async () => {
        const [method = '', path = ''] = line.split(' ')
        const headers = { 'Content-Type': 'application/json' }
        const url = (path: string) => `http://localhost${path}`
        const response = await service.fetch(new Request(url(path), { method, headers, body: JSON.stringify(body) }))
        const answer = (await response.json()) as JsonObject | readonly JsonObject[]
        for (const record of [answer].flat() as readonly JsonObject[]) {
          const read = await service.fetch(new Request(url(`/user/${record.id}`)))
          assert.deepEqual(record, await read.json())
          if (record === answer) assert.equal(version(response), version(read))
        }
      })
    }
  })
}

/** The first part of a tag, with which `If-Match` is compared. */
const version = ({ headers }: Response): string | undefined => headers.get('etag')?.slice(0, 23)
